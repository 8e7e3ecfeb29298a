#include "parley/report/forecast/owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::report {
namespace {

using Owner = Forecast::Owner;

/// A header, and what `cells` says of the first owners.
template <class Of>
Cells owner_cells(const Forecast& f, size_t most, std::vector<std::string> header, const Of& of) {
  Cells found = {std::move(header)};
  for (size_t i = 0; i < std::min(f.owners.size(), most); ++i) found.push_back(of(f.owners[i]));
  return found;
}

std::string break_even_text(const Owner& owner) {
  if (!owner.break_even_epsilon) return "none";
  return *owner.break_even_epsilon == 0 ? "any" : significant(*owner.break_even_epsilon);
}

}  // namespace

Cells verdict_cells(const Forecast& f, size_t most) {
  const bool alike = f.owners.front().against_alone.alike;
  const std::string verdict = alike ? "verdict if all alike" : "verdict";
  std::vector<std::string> header = {"owner", "rows", "ε", "counts from"};
  const auto add = [&](const std::string& against) {
    header.push_back("gain against " + against);
    header.push_back(verdict);
  };
  add(f.job.columns ? "own columns" : "alone");
  if (!f.job.columns) add("own + public");
  return owner_cells(f, most, header, [&](const Owner& o) {
    std::vector<std::string> cells = {o.name, grouped(o.rows), significant(o.epsilon),
                                      metric_text(f, o.against_alone.threshold)};
    const auto say = [&](const GainVerdict& found) {
      cells.push_back(range_text(f, found.gain));
      cells.emplace_back(name_of(found.answer));
    };
    say(o.against_alone);
    if (o.against_own_public) say(*o.against_own_public);
    return cells;
  });
}

Cells figure_cells(const Forecast& f, size_t most) {
  const std::string metric = metric_name(f);
  if (f.job.columns)
    return owner_cells(f, most, {metric, "own columns", "joint"}, [&](const Owner& o) {
      return std::vector{o.name, range_text(f, o.alone), range_text(f, o.joint)};
    });
  return owner_cells(
      f, most, {metric, "alone", "own + public", "joint", "personal"}, [&](const Owner& o) {
        return std::vector{
            o.name, range_text(f, o.alone), range_text(f, o.own_public.value_or(MetricRange())),
            range_text(f, o.joint), range_text(f, o.personal.value_or(MetricRange()))};
      });
}

Cells paper_cells(const Forecast& f, size_t most) {
  const auto percent = [](double psi) { return significant(100 * psi, 2) + " %"; };
  return owner_cells(f, most,
                     {"the papers' measure", "weight", "alone", "joint", "pays from ε", "share"},
                     [&](const Owner& o) {
                       return std::vector{o.name,
                                          significant(o.weight, 2),
                                          percent(o.local_only),
                                          percent(f.joint.relative_fitness.mean),
                                          break_even_text(o),
                                          significant(o.shapley, 2)};
                     });
}

std::string metric_name(const Forecast& f) {
  return f.joint.metric.name == "auc" ? "AUC" : f.joint.metric.name == "rmse" ? "RMSE" : "log loss";
}

std::string metric_text(const Forecast& f, double value) {
  const double counts = f.owners.front().against_alone.threshold;
  const double places = counts > 0 ? std::ceil(1 - std::log10(counts)) : 4;
  const double rounded = std::fabs(value) < 1e-9 ? 0 : value;
  return fmt::format("{:.{}f}", rounded, static_cast<int>(std::clamp(places, 2.0, 4.0)));
}

std::string range_text(const Forecast& f, const MetricRange& range) {
  return fmt::format("{} ({} to {})", metric_text(f, range.mean), metric_text(f, range.low),
                     metric_text(f, range.high));
}

}  // namespace parley::report
