#include "studies/reproduce/verdict.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace parley::reproduce {
namespace {

bool has_value(const Measure& measure) {
  return std::isfinite(measure.value) && std::isfinite(measure.error);
}

bool on_file(const Figure& figure) {
  return figure.kind == DataKind::kExcerpt || figure.kind == DataKind::kPapers;
}

/// Where data decide: what each kind says.
Verdict together(const Figure& figure, Verdict standin, std::optional<Verdict> file) {
  if (!file)  // A stand-in alone refutes nothing.
    return standin == Verdict::kRefuted ? Verdict::kNotDecided : standin;
  return figure.kind == DataKind::kPapers || standin == *file ? *file : Verdict::kNotDecided;
}

}  // namespace

double reach_of(uint64_t draws) {
  // Quantiles of Student's t at 0.99865, by degrees of freedom.
  constexpr double kStudent[] = {235.8, 19.21, 9.219, 6.620, 5.507, 4.904, 4.530, 4.277, 4.094};
  if (draws < 2) return 3;
  return draws - 2 < std::size(kStudent) ? kStudent[draws - 2] : 3.957;
}

Verdict verdict_of(const Measure& measure) {
  if (!has_value(measure)) return Verdict::kNotDecided;
  const double reach = reach_of(measure.draws) * measure.error;
  const double low = measure.value - reach, high = measure.value + reach;
  if (measure.least <= low && high <= measure.most) return Verdict::kReproduced;
  return high < measure.least || low > measure.most ? Verdict::kRefuted : Verdict::kNotDecided;
}

std::optional<Verdict> verdict_of(const std::vector<Measure>& measures) {
  std::optional<Verdict> verdict;
  for (const Measure& measure : measures) {
    if (!measure.decides) continue;
    const Verdict one = verdict_of(measure);
    if (one == Verdict::kRefuted) return one;
    if (!verdict || one == Verdict::kNotDecided) verdict = one;
  }
  return verdict;
}

Verdict verdict_of(const Figure& figure) {
  const auto own = verdict_of(figure.measures);
  if (figure.kind == DataKind::kNone) return own.value_or(Verdict::kNotDecided);
  if (figure.kind == DataKind::kStandin)
    return together(figure, own.value_or(Verdict::kNotDecided), {});
  return together(figure, verdict_of(figure.on_standin).value_or(Verdict::kNotDecided), own);
}

std::string why_not_decided(const Figure& figure) {
  if (verdict_of(figure) != Verdict::kNotDecided) return "";
  const auto own = verdict_of(figure.measures);
  if (!own) return "nothing could be measured";
  if (figure.kind == DataKind::kStandin && *own == Verdict::kRefuted)
    return "refuted on the stand-in, and no real records were given";
  if (on_file(figure) && *own != Verdict::kNotDecided &&
      verdict_of(figure.on_standin).value_or(*own) != Verdict::kNotDecided)
    return "stand-in and real records disagree";
  return "an interval crosses its threshold";
}

bool fitted_to_claim(const Figure& figure) {
  return std::any_of(figure.measures.begin(), figure.measures.end(),
                     [](const Measure& measure) { return measure.decides && measure.fitted; });
}

void count_tallies(std::vector<Measure>& measures) {
  std::vector<Measure> counted;
  for (size_t k = 0; k < measures.size(); ++k) {
    const std::string& name = measures[k].tally;
    const auto same = [&](const Measure& other) { return other.tally == name; };
    if (name.empty() || std::any_of(measures.begin(), measures.begin() + long(k), same)) continue;
    double all = 0, hold = 0, open = 0;
    bool fitted = false;
    for (const Measure& each : measures) {
      if (!same(each)) continue;
      ++all, fitted |= each.fitted;
      hold += verdict_of(each) == Verdict::kReproduced;
      open += verdict_of(each) == Verdict::kNotDecided;
    }
    counted.push_back({.quantity = name,
                       .value = hold + open / 2,
                       .error = open / 2 / reach_of(1),
                       .paper = all,
                       .least = all,
                       .most = all,
                       .fitted = fitted,
                       .unit = "of " + std::to_string(int(all))});
  }
  measures.insert(measures.begin(), std::make_move_iterator(counted.begin()),
                  std::make_move_iterator(counted.end()));
}

namespace {

/// The same ratio the other way round, seen from the end of its range.
Measure sides_exchanged(Measure measure) {
  const double end = std::isfinite(measure.most) ? measure.most : measure.least;
  const double turned = end * end / measure.value;
  measure.error *= std::fabs(turned / measure.value), measure.value = turned;
  return measure;
}

/// "Alike" has two ends, "less" and "more" one: 0 to 1, at least 1.
bool says_alike(const Measure& measure) { return measure.least > 0 && std::isfinite(measure.most); }

}  // namespace

std::vector<Broken> broken(const Measure& measure) {
  const auto with = [&](double value, double error) {
    Measure other = measure;
    other.value = value, other.error = error;
    return other;
  };
  const auto times = [&](double factor) {
    return with(factor * measure.value, std::fabs(factor) * measure.error);
  };
  if (verdict_of(measure) != Verdict::kReproduced) {
    const double claimed = std::isfinite(measure.least) && std::isfinite(measure.most)
                               ? (measure.least + measure.most) / 2
                           : std::isfinite(measure.least) ? measure.least
                                                          : measure.most;
    return {{"as claimed", {with(claimed, 0)}}};
  }
  if (!measure.tally.empty() && !says_alike(measure))
    return {{"sides exchanged", {sides_exchanged(measure)}}};
  if (!measure.tally.empty()) return {{"factor of three", {times(3), times(1. / 3)}}};
  const bool exponent = measure.kind == Quantity::kExponent;
  return {{"sign", {times(-1)}},
          {"exponent", exponent ? std::vector{with(measure.value + 1, measure.error),
                                              with(measure.value - 1, measure.error)}
                                : std::vector{times(10), times(.1)}},
          {"factor of three", {times(3), times(1. / 3)}}};
}

std::vector<std::string_view> unnoticed(const Measure& measure) {
  std::vector<std::string_view> result;
  for (const Broken& each : broken(measure))
    if (std::none_of(each.measures.begin(), each.measures.end(), [&](const Measure& other) {
          return verdict_of(other) != verdict_of(measure);
        }))
      result.push_back(each.how);
  return result;
}

}  // namespace parley::reproduce
