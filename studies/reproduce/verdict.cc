#include "studies/reproduce/verdict.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace parley::reproduce {
namespace {

bool has_value(const Measure& measure) {
  return std::isfinite(measure.value) && std::isfinite(measure.error);
}

/// "Alike" has two ends, "less" and "more" one: 0 to 1, at least 1.
bool says_alike(const Measure& measure) { return measure.least > 0 && std::isfinite(measure.most); }

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
  const uint64_t repeats = measure.draws > 1 ? measure.draws : measure.runs;
  const double reach = reach_of(repeats) * measure.error;
  const double low = measure.value - reach, high = measure.value + reach;
  // "More" and "less" are not "as much", which what has not moved is.
  const bool strict = !measure.tally.empty() && !says_alike(measure);
  if (strict && (low == measure.least || high == measure.most) && low != 0)
    return Verdict::kNotDecided;
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

bool fitted_to_claim(const std::vector<Measure>& measures) {
  return std::any_of(measures.begin(), measures.end(),
                     [](const Measure& measure) { return measure.decides && measure.fitted; });
}

bool fitted_to_claim(const Figure& figure) {
  return fitted_to_claim(figure.measures) || fitted_to_claim(figure.on_standin);
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
                       .counts = true,
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

Measure with(Measure measure, double value, double error) {
  measure.value = value, measure.error = error;
  return measure;
}

Measure times(const Measure& measure, double factor) {
  return with(measure, factor * measure.value, std::fabs(factor) * measure.error);
}

std::vector<Measure> broken_by(std::string_view how, const Measure& measure) {
  if (how == kSign) return {times(measure, -1)};
  if (how == kFactor) return {times(measure, 3), times(measure, 1. / 3)};
  if (how == kSides) return {sides_exchanged(measure)};
  if (measure.kind == Quantity::kExponent)
    return {with(measure, measure.value + 1, measure.error),
            with(measure, measure.value - 1, measure.error)};
  return {times(measure, 10), times(measure, .1)};
}

bool noticed(const Measure& measure, const std::vector<Measure>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Measure& other) {
    return verdict_of(other) != verdict_of(measure);
  });
}

/// Numbers within the range and not at its ends, close together; as far as 10^9 where it has none.
std::vector<double> numbers_within(const Measure& measure) {
  constexpr int kCount = 400;
  constexpr double kFar = 1e9;
  const double low = std::isfinite(measure.least) ? measure.least : -kFar,
               high = std::isfinite(measure.most) ? measure.most : kFar;
  std::vector<double> numbers;
  for (int k = 0; k < kCount; ++k) {
    const double share = (k + .5) / kCount;
    numbers.push_back(low + share * (high - low));
    if (low > 0) numbers.push_back(low * std::pow(high / low, share));
  }
  return numbers;
}

/// Whether a mistake of this kind takes every number out of the range, so that noticing it says
/// something of the range and nothing of the number.
bool by_construction(std::string_view how, const Measure& measure) {
  const std::vector<double> numbers = numbers_within(measure);
  return std::all_of(numbers.begin(), numbers.end(), [&](double number) {
    const Measure inside = with(measure, number, 0);
    return noticed(inside, broken_by(how, inside));
  });
}

/// Where the claim says.
Measure as_claimed(const Measure& measure) {
  const bool low = std::isfinite(measure.least), high = std::isfinite(measure.most);
  return with(measure,
              low && high ? (measure.least + measure.most) / 2
              : low       ? measure.least + std::fabs(measure.least)
                          : measure.most - std::fabs(measure.most),
              0);
}

}  // namespace

std::vector<Broken> broken(const Measure& measure) {
  if (verdict_of(measure) != Verdict::kReproduced)
    return {{.how = kClaimed, .measures = {as_claimed(measure)}, .by_construction = true}};
  const bool one_sided = !measure.tally.empty() && !says_alike(measure);
  std::vector<Broken> ways;
  const auto add = [&](std::string_view how) {
    ways.push_back({.how = how,
                    .measures = broken_by(how, measure),
                    .by_construction = by_construction(how, measure),
                    .must_be_noticed = !one_sided || how != kFactor});
  };
  if (one_sided) add(kSides);
  if (measure.tally.empty()) add(kSign), add(kExponent);
  add(kFactor);
  return ways;
}

std::vector<std::string_view> unnoticed(const Measure& measure) {
  std::vector<std::string_view> result;
  for (const Broken& each : broken(measure))
    if (each.must_be_noticed && !noticed(measure, each.measures)) result.push_back(each.how);
  return result;
}

namespace {

/// The figure with another number in one place; what tallies count is counted again.
Figure with_measure(Figure figure, bool standin, size_t index, const Measure& measure) {
  std::vector<Measure>& measures = standin ? figure.on_standin : figure.measures;
  measures[index] = measure;
  if (measure.tally.empty()) return figure;
  std::erase_if(measures, [](const Measure& each) { return each.counts; });
  count_tallies(measures);
  return figure;
}

}  // namespace

Notice notice_of(const Figure& figure, bool standin, size_t index, const Broken& way) {
  const Measure& measure = (standin ? figure.on_standin : figure.measures)[index];
  Notice notice = Notice::kNone;
  for (const Measure& other : way.measures) {
    if (verdict_of(other) == verdict_of(measure)) continue;
    if (verdict_of(with_measure(figure, standin, index, other)) != verdict_of(figure))
      return Notice::kItem;
    notice = Notice::kMeasure;
  }
  return notice;
}

}  // namespace parley::reproduce
