#include "parley/report/forecast/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/report/forecast/owners.h"

namespace parley::report {
namespace {

constexpr size_t kNamed = 4;  // owners that a sentence names one by one

/// The first few names of those for whom `in` holds.
template <class In>
std::string names(const Forecast& f, const In& in) {
  std::string text;
  size_t found = 0;
  for (const auto& owner : f.owners)
    if (in(owner) && ++found <= kNamed) text += (text.empty() ? "" : ", ") + owner.name;
  return text + (found > kNamed ? fmt::format(" and {} more", found - kNamed) : "");
}

const GainVerdict* verdict_on(const Forecast::Owner& owner, GainAgainst against) {
  if (against == GainAgainst::kAlone) return &owner.against_alone;
  return owner.against_own_public ? &*owner.against_own_public : nullptr;
}

/// How many owners have this verdict.
size_t count(const Forecast& f, GainAgainst against, GainAnswer answer) {
  return static_cast<size_t>(
      std::count_if(f.owners.begin(), f.owners.end(), [&](const auto& owner) {
        const GainVerdict* found = verdict_on(owner, against);
        return found != nullptr && found->answer == answer;
      }));
}

/// "worth it for 2 of 3 (bank-a, bank-b), not sure for 1 of 3 (bank-c)".
std::string verdicts(const Forecast& f, GainAgainst against) {
  std::string text;
  for (const auto answer : {GainAnswer::kWorthIt, GainAnswer::kNotSure, GainAnswer::kNoDifference,
                            GainAnswer::kNotWorthIt}) {
    const size_t those = count(f, against, answer);
    if (those == 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(answer));
    if (those == f.owners.size())
      text += those == 1 ? "" : those == 2 ? " for both" : fmt::format(" for all {}", those);
    else
      text += fmt::format(" for {} of {} ({})", those, f.owners.size(),
                          names(f, [&](const auto& owner) {
                            return verdict_on(owner, against)->answer == answer;
                          }));
  }
  return text;
}

std::string for_whom(const Forecast& f) {
  return fmt::format("{} {} by, with 90 % interval, on the owner's own people{}:",
                     f.job.columns ? "Joint model:" : "Personal model:",
                     f.joint.metric.name == "auc" ? "AUC higher" : metric_name(f) + " lower",
                     f.owners.front().against_alone.alike ? ", if all owners were alike" : "");
}

std::string at_which(const Forecast& f) {
  const forecast::EpsilonForecast& epsilons = f.epsilons;
  if (!epsilons.smallest_common)
    return "At none by the papers' measure, the loss over all rows: without any noise the steps "
           "end "
           "further from the best than owners alone.";
  const auto [low, high] =
      std::minmax_element(f.owners.begin(), f.owners.end(),
                          [](const auto& a, const auto& b) { return a.epsilon < b.epsilon; });
  const std::string given = low->epsilon == high->epsilon
                                ? significant(low->epsilon)
                                : significant(low->epsilon) + " to " + significant(high->epsilon);
  std::string text = fmt::format(
      "By the papers' measure, the loss over all rows, joint is ahead of every owner alone from {} "
      "on; the charter gives {}.",
      significant(*epsilons.smallest_common), given);
  if (epsilons.enough)
    text += fmt::format(" Above {} little improves.", significant(*epsilons.enough, 2));
  if (!epsilons.target) return text;
  const std::string target = significant(100 * *epsilons.target) + " %";
  return text + (epsilons.for_target ? fmt::format(" For {} above the best: {}.", target,
                                                   significant(*epsilons.for_target))
                                     : fmt::format(" {} above the best is out of reach.", target));
}

std::string how_sure(const Forecast& f) {
  return fmt::format(
      "{} of the joint model over all rows {} ({} to {}; public rows only {}), by the papers' "
      "measure {} % to {} % above the best possible. If owners' rows are like the public ones.",
      metric_name(f), metric_text(f, f.joint.metric.joint), metric_text(f, f.joint.metric.low),
      metric_text(f, f.joint.metric.high), metric_text(f, f.joint.metric.pilot_only),
      significant(100 * f.joint.relative_fitness.low, 2),
      significant(100 * f.joint.relative_fitness.high, 2));
}

}  // namespace

std::string how_unlike(const Forecast& f) {
  const MetricRange& tau = f.differ.tau;
  if (f.differ.from == "nobody")
    return "Nobody says: all owners are taken to be alike. The sites of public rows can say it "
           "(pilot.group), a paid number (rule \"distance\"), or a person (--differ).";
  const std::string source = f.differ.from == "paid"    ? "from the numbers that owners paid for"
                             : f.differ.from == "sites" ? "from the sites of the public rows"
                                                        : "as declared";
  return fmt::format(
      "Tau {} ({} to {}), {}: on an owner's own people the best common model loses half of it, in "
      "loss, against the owner's best.",
      significant(tau.mean, 2), significant(tau.low, 2), significant(tau.high, 2), source);
}

std::string worth_it(const Forecast& f, GainAgainst against) {
  const size_t worth = count(f, against, GainAnswer::kWorthIt);
  if (worth == f.owners.size()) return "yes";
  if (worth > 0) return "some";
  return count(f, against, GainAnswer::kNotSure) > 0 ? "unsure" : "no";
}

std::string worth_it_sentence(const Forecast& f) {
  const bool alike = f.owners.front().against_alone.alike;
  if (f.job.columns) return "Against own columns alone: " + verdicts(f, GainAgainst::kAlone) + ".";
  const auto none = [&](GainAgainst against) {
    return count(f, against, GainAnswer::kNoDifference) == f.owners.size();
  };
  if (none(GainAgainst::kAlone) && none(GainAgainst::kOwnPublic))
    return fmt::format(
        "No difference: nobody gains as much {} as counts, against alone or own + public{}.",
        metric_name(f), alike ? ", if all owners were alike" : "");
  return fmt::format("{}gainst alone {}; against own + public, which costs nothing, {}.",
                     alike ? "If all owners were alike: a" : "A", verdicts(f, GainAgainst::kAlone),
                     verdicts(f, GainAgainst::kOwnPublic));
}

Answers first_answers(const Forecast& f) {
  return {{"Worth it?", worth_it_sentence(f)}, {"For whom?", for_whom(f)}};
}

Answers more_answers(const Forecast& f) {
  Answers answers = {{"At which ε?", at_which(f)}, {"How sure?", how_sure(f)}};
  if (!f.job.columns) answers.insert(answers.begin(), {"How unlike?", how_unlike(f)});
  return answers;
}

}  // namespace parley::report
