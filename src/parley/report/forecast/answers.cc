#include "parley/report/forecast/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::report {
namespace {

constexpr size_t kNamed = 4;  // owners that a sentence names one by one

std::string in_metric(const Forecast& f, double value) {
  return (f.metric.name == "auc" ? "AUC " : "RMSE ") + metric_text(f, value);
}

std::string alone(const Forecast& f) {
  if (f.owners.size() > kNamed) {
    const auto [low, high] = std::minmax_element(
        f.owners.begin(), f.owners.end(),
        [](const auto& a, const auto& b) { return a.local_metric < b.local_metric; });
    return fmt::format("{} to {}", metric_text(f, low->local_metric),
                       metric_text(f, high->local_metric));
  }
  std::string text;
  for (const auto& owner : f.owners)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", metric_text(f, owner.local_metric),
                        owner.name);
  return text;
}

/// The first few names of those for whom `in` holds.
template <class In>
std::string names(const Forecast& f, const In& in) {
  std::string text;
  size_t found = 0;
  for (const auto& owner : f.owners)
    if (in(owner) && ++found <= kNamed) text += (text.empty() ? "" : ", ") + owner.name;
  return text + (found > kNamed ? fmt::format(" and {} more", found - kNamed) : "");
}

std::string for_whom(const Forecast& f) {
  const size_t all = f.owners.size(), gain = f.gaining(), lose = f.losing();
  if (gain == all)
    return fmt::format("All {}. Alone: a model of the owner's own {}, without noise.", all,
                       f.job.columns ? "columns" : "rows");
  if (lose == all)
    return fmt::format("Nobody: everyone's own {}, without noise, do better.",
                       f.job.columns ? "columns" : "rows");
  std::string text = fmt::format("{} of {} surely.", gain, all);
  if (lose > 0)
    text += " Better off alone: " +
            names(f, [](const auto& owner) { return owner.sure && !owner.gains; }) + ".";
  if (gain + lose < all)
    text += " Not sure: " + names(f, [](const auto& owner) { return !owner.sure; }) +
            (f.owners.front().sure    ? "."
             : f.owners.front().gains ? " (more likely yes)."
                                      : " (more likely no).");
  return text;
}

std::string at_which(const Forecast& f) {
  const forecast::EpsilonForecast& epsilons = f.epsilons;
  if (!epsilons.smallest_common)
    return "At none: without any noise the steps end further from the best than owners alone.";
  const auto [low, high] =
      std::minmax_element(f.owners.begin(), f.owners.end(),
                          [](const auto& a, const auto& b) { return a.epsilon < b.epsilon; });
  const std::string given = low->epsilon == high->epsilon
                                ? significant(low->epsilon)
                                : significant(low->epsilon) + " to " + significant(high->epsilon);
  std::string text = fmt::format("It pays for all from {} on; the charter gives {}.",
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
  return fmt::format("90 % interval {} to {}; {} % to {} % above the best possible.",
                     metric_text(f, f.metric.low), metric_text(f, f.metric.high),
                     significant(100 * f.relative_fitness.low, 2),
                     significant(100 * f.relative_fitness.high, 2)) +
         " If owners' rows are like the public ones.";
}

}  // namespace

std::string worth_it(const Forecast& f) {
  if (f.losing() == f.owners.size() || f.relative_fitness.mean > f.relative_fitness.pilot_only)
    return "no";
  if (f.gaining() == f.owners.size()) return "yes";
  return f.gaining() > 0 ? "some" : "unsure";
}

std::string worth_it_sentence(const Forecast& f) {
  const std::string word = worth_it(f);
  return fmt::format("{} {} together; alone {}; public rows only {}.",
                     word == "yes"      ? "Yes."
                     : word == "some"   ? "For some."
                     : word == "unsure" ? "Not sure."
                                        : "No.",
                     in_metric(f, f.metric.joint), alone(f), metric_text(f, f.metric.pilot_only));
}

std::vector<std::pair<std::string, std::string>> four_answers(const Forecast& f) {
  return {{"Worth it?", worth_it_sentence(f)},
          {"For whom?", for_whom(f)},
          {"At which ε?", at_which(f)},
          {"How sure?", how_sure(f)}};
}

std::string metric_text(const Forecast& f, double value) {
  // As many digits as tell together from alone, between two and four.
  double apart = std::fabs(f.metric.joint - f.metric.best);
  for (const auto& owner : f.owners)
    apart = std::max(apart, std::fabs(owner.local_metric - f.metric.joint));
  const double places = apart > 0 ? std::ceil(1 - std::log10(apart)) : 3;
  return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(places, 2.0, 4.0)));
}

std::string closer(double alone, double joint) {
  if (!(joint < alone)) return "loses";
  const double times = alone / joint;
  return (times < 10 ? significant(times, 2) : grouped(static_cast<uint64_t>(times))) +
         " times closer";
}

}  // namespace parley::report
