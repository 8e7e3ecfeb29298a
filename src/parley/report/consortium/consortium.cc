#include "parley/report/consortium/consortium.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "parley/base/math/number.h"
#include "parley/report/evaluation.h"
#include "parley/report/page/html.h"
#include "parley/report/page/web.h"
#include "parley/report/verify.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSlowTimes = 3;    // the (lower) median of all owners' mean times
constexpr double kSlowSeconds = 1;  // below, nobody is called slow

std::string seconds(const Json& value) {
  return value.is_number() ? significant(value.get<double>()) + " s" : "";
}

/// From which mean time on an owner is slow.
double slow_from(const Json& parties) {
  std::vector<double> means;
  for (const Json& each : parties)
    if (each.at("answer_s").is_number()) means.push_back(each.at("answer_s"));
  if (means.empty()) return kSlowSeconds;
  const auto median = means.begin() + static_cast<ptrdiff_t>((means.size() - 1) / 2);
  std::nth_element(means.begin(), median, means.end());
  return std::max(kSlowSeconds, kSlowTimes * *median);
}

std::string standing_of(const Json& party, double slow) {
  if (!party.at("attends").get<bool>()) return "away";
  const auto above = [&](const char* key) {
    return party.at(key).is_number() && party.at(key).get<double>() > slow;
  };
  return above("answer_s") || above("waiting_s") ? "connected, slow" : "connected";
}

std::string parties_table(const Json& parties) {
  const double slow = slow_from(parties);
  std::string text = "<div class=wide tabindex=0 role=group aria-label=owners><table>\n" +
                     html_row({"owner", "is", "answers", "mean time of an answer", "asked since",
                               "connections lost"},
                              "th");
  for (const Json& each : parties)
    text += html_row({each.at("name"), standing_of(each, slow),
                      grouped(each.at("answers").get<uint64_t>()), seconds(each.at("answer_s")),
                      seconds(each.at("waiting_s")), grouped(each.at("lost").get<uint64_t>())},
                     "td");
  return text + "</table></div>\n";
}

std::string progress_of(const Json& said) {
  const uint64_t round = said.at("round"), rounds = said.at("rounds");
  const std::string left = seconds(said.at("seconds_left"));
  return fmt::format(
      "<p>Round {} of {} is done{}.</p>\n<progress max={} value={} aria-label=\"rounds "
      "done\"></progress>\n",
      grouped(round), grouped(rounds),
      left.empty() || round == rounds ? "" : "; about " + left + " are left at this pace",
      std::max<uint64_t>(rounds, 1), round);
}

std::string faults_of(const Json& parties) {
  uint64_t lost = 0;
  for (const Json& each : parties) lost += each.at("lost").get<uint64_t>();
  return lost == 0 ? "<p>No connection was lost.</p>\n"
                   : fmt::format(
                         "<p>Survived: {} lost {}. Whoever comes back is asked the same "
                         "again, and pays nothing for it twice.</p>\n",
                         grouped(lost), lost == 1 ? "connection" : "connections");
}

std::string under_way(const ConsortiumJob& job) {
  if (job.said.empty())
    return fmt::format("<p class=quiet>The learner does not run here now: {}.</p>\n",
                       escaped(job.silence));
  try {
    const Json said = Json::parse(job.said);
    return progress_of(said) + parties_table(said.at("parties")) + faults_of(said.at("parties")) +
           fmt::format("<p class=quiet>{} runs since {}, Parley {}.</p>\n",
                       escaped(said.at("learner").get<std::string>()),
                       escaped(said.at("since").get<std::string>()),
                       escaped(said.at("version").get<std::string>()));
  } catch (const Json::exception&) {
    return "<p class=warn>The learner is of another version, and says something that this page "
           "does not know.</p>\n";
  }
}

std::string card_of(const learn::Model& model) {
  const learn::PrivacyCard& card = model.card;
  std::string text = fmt::format(
      "<h2>The model's card</h2>\n<p>{}</p>\n<div class=wide tabindex=0 role=group "
      "aria-label=spent><table>\n{}",
      escaped(card.statement),
      html_row({"owner", "rows", "ε spent", "of it for the evaluation", "receipts"}, "th"));
  for (const auto& owner : card.owners)
    text += html_row({owner.name, grouped(owner.rows), significant(owner.epsilon),
                      significant(owner.epsilon_evaluation), grouped(owner.receipts)},
                     "td");
  text += "</table></div>\n<p>Not covered:</p>\n<ul>\n";
  for (const std::string& each : card.not_covered) text += "<li>" + escaped(each) + "</li>\n";
  return text + "</ul>\n";
}

std::string verified_of(const ConsortiumJob& job) {
  if (!job.unverified.empty())
    return "<p class=warn role=alert>Not verified: " + escaped(job.unverified) + "</p>\n";
  if (!job.verified) return "<p class=quiet>It is being checked.</p>\n";
  return fmt::format("<p{}>{}</p>\n<pre class=columns tabindex=0>{}</pre>\n",
                     job.verified->holds() ? "" : " class=warn role=alert",
                     job.verified->holds() ? "It holds: the model is what the signed answers make "
                                             "it, and every ε is what was agreed."
                                           : "It does NOT hold.",
                     escaped(to_text(*job.verified)));
}

std::string outcome(const ConsortiumJob& job) {
  if (!job.model && job.manifest.empty()) return "<p class=quiet>There is no model yet.</p>\n";
  std::string text;
  if (!job.manifest.empty())
    text += "<p>The owners have the model in parts; its manifest is " + escaped(job.manifest) +
            ".</p>\n";
  if (job.model)
    text +=
        "<h2>Evaluation</h2>\n" +
        (job.model->evaluation ? "<p>" + escaped(to_text(*job.model->evaluation)) + "</p>\n"
                               : std::string("<p class=quiet>The charter pays for none.</p>\n")) +
        card_of(*job.model);
  return text + "<h2>Verified</h2>\n" + verified_of(job);
}

}  // namespace

std::string consortium_live(const ConsortiumJob& job) {
  return "<h2>Who is here</h2>\n" + under_way(job) + "<h2>What came of it</h2>\n" + outcome(job);
}

std::string consortium_page(const ConsortiumJob& job) {
  return web_page(job.charter + ": the job", job.token,
                  fmt::format("<h1>{}</h1>\n<p>{}</p>\n<p class=quiet>Charter <span "
                              "class=hash>{}</span></p>\n<div data-live=\"/live\">{}</div>\n",
                              escaped(job.charter), escaped(job.purpose), escaped(job.hash),
                              consortium_live(job)));
}

}  // namespace parley::report
