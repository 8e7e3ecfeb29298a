#include "parley/report/forecast/no_pilot.h"

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

constexpr const char* kNotSure = "not sure: there are no public rows";

Choice rounds_for(double floor) {
  const bool few = floor > plan::kGramWarned;
  return {"protocol.rounds", few ? "5" : "20",
          few ? "the Gram matrix is noisy, so each gradient gets more of the budget; take model.l2 "
                "= 0.001, too"
              : "the noise of later rounds averages out"};
}

}  // namespace

Result<NoPilot> without_pilot(const charter::Charter& charter) {
  charter::Charter job = charter;
  NoPilot said{.name = charter.name};
  if (!charter.complete()) {
    said.chosen.push_back(rounds_for(plan::gram_noise(TRY(plan::gram_job(job))).floor));
    job.protocol.rounds = said.chosen[0].value == "5" ? 5 : 20;
  }
  said.noise = plan::gram_noise(TRY(plan::gram_job(job)));
  said.notice = *TRY(plan::gram_notice(job));
  return said;
}

std::string to_text(const NoPilot& said) {
  std::string text =
      "Worth it?     Not sure: there are no public rows, and without any nothing can be said about "
      "what the model of " +
      said.name +
      " would be worth. `parley simulate` on rows like the owners' shows it.\nHow sure?     " +
      said.notice + "\n";
  for (const Choice& choice : said.chosen)
    text += "Chosen        " + choice.key + " = " + choice.value + ": " + choice.why + ".\n";
  return text;
}

std::string to_json(const NoPilot& said) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format", "parley.forecast.no_pilot/1"},
               {"parley", provenance()},
               {"charter", said.name},
               {"worth_it", kNotSure},
               {"noise",
                {{"gram_entry", said.noise.entry},
                 {"eigenvalue_floor", said.noise.floor},
                 {"gradient", said.noise.gradient}}},
               {"notice", said.notice},
               {"chosen", Json::array()}};
  for (const Choice& choice : said.chosen)
    json["chosen"].push_back({{"key", choice.key}, {"value", choice.value}, {"why", choice.why}});
  return json.dump(2) + "\n";
}

}  // namespace parley::report
