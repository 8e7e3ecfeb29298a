// parley owner check POLICY [CHARTER...]
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/net/prospect.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Error& error) {
  return {{"code", name_of(error.code)}, {"what", describe(error)}, {"hint", error.hint}};
}

Json json_of(const charter::Prospect& prospect) {
  Json json = {{"name", prospect.name},
               {"charter", to_hex(prospect.charter)},
               {"runs", prospect.runs()},
               {"rule", prospect.rule == 0 ? Json() : Json(prospect.rule)},
               {"person", prospect.person},
               {"approved", prospect.approved},
               {"dataset", prospect.rule == 0 ? Json() : Json(prospect.dataset)},
               {"learner", prospect.learner},
               {"address", prospect.address},
               {"rows", prospect.rows},
               {"rows_counted", prospect.rows_counted},
               {"answers", prospect.answers},
               {"answered", prospect.answered},
               {"numbers", prospect.numbers},
               {"track", prospect.track == privacy::Track::kPure ? "pure" : "zcdp"},
               {"price", prospect.price},
               {"left", prospect.left},
               {"left_after", prospect.left_after},
               {"obstacles", Json::array()}};
  for (const Error& obstacle : prospect.obstacles) json["obstacles"].push_back(json_of(obstacle));
  return json;
}

std::string about_papers(const Result<net::Papers>& papers) {
  if (papers) return "Papers: in order, " + papers->identity.uri() + ".\n";
  return "Papers: NOT in order, so nothing can be answered: " + describe(papers.error()) + ". " +
         papers.error().hint + "\n";
}

}  // namespace

Result<Output> run(const OwnerCheckOptions& options, ProgressStyle style) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  const auto ledger = TRY(net::look_into_ledger(policy));
  const auto papers = net::papers_of(policy, clock);
  charter::SpentByDataset spent;
  if (ledger)
    for (const ledger::Dataset& dataset : ledger->datasets) spent[dataset.name] = dataset.spent;
  const std::string explained = charter::explain(policy, spent);
  bool runs = bool(papers);
  Output output{.text = explained + about_papers(papers), .json = {}};
  Json charters = Json::array();
  Progress progress(options.no_data ? ProgressStyle::kQuiet : style, "charters",
                    options.charters.size());
  for (const auto& file : options.charters) {
    const charter::Charter charter = TRY(charter::read_charter(file));
    const auto prospect = net::prospect_of(policy, charter, ledger,
                                           {.dial = options.dial, .read_data = !options.no_data});
    runs = runs && prospect.runs();
    output.text += "\n" + charter::explain(prospect);
    charters.push_back(json_of(prospect));
    progress.advance();
  }
  output.json = Json{{"format", "parley.owner.check/1"},
                     {"owner", policy.owner},
                     {"runs", runs},
                     {"explanation", explained},
                     {"papers", papers ? Json() : json_of(papers.error())},
                     {"charters", charters}}
                    .dump(2, ' ', false, Json::error_handler_t::replace) +
                "\n";
  output.exit = runs ? 0 : exit_status(Code::kPolicy);
  return output;
}

}  // namespace parley::cli
