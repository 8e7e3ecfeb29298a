// The rules by which numbers become verdicts: all of them, and nowhere else
// (docs/explanation/verdicts.md says them in words).
//
// A measure has an interval: value ± k standard errors, k = 3, or the quantile of Student's t with
// the same tail where the error was estimated from few draws of a stand-in or few runs. Inside its
// range: reproduced. Outside: refuted. Across an end of it, or without a value: not decided. An
// item is refuted if one of its deciding measures is, else not decided if one is not, else
// reproduced. A stand-in alone refutes nothing: where stand-in and real records disagree the item
// is not decided, and the paper's own file decides alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

enum class Verdict { kReproduced, kRefuted, kNotDecided };

constexpr std::string_view name_of(Verdict verdict) {
  constexpr std::string_view kNames[] = {"reproduced", "refuted", "not decided"};
  return kNames[static_cast<int>(verdict)];
}

/// How many standard errors an interval reaches to either side: two-sided 99.73 %.
double reach_of(uint64_t draws);

Verdict verdict_of(const Measure& measure);
/// Of the deciding ones; nothing if there is none.
std::optional<Verdict> verdict_of(const std::vector<Measure>& measures);
Verdict verdict_of(const Figure& figure);
/// Why an item is not decided; empty if it is.
std::string why_not_decided(const Figure& figure);

/// Whether a deciding measure was fitted, on the file or on the stand-in: then its agreement is
/// calibration, not confirmation.
bool fitted_to_claim(const std::vector<Measure>& measures);
bool fitted_to_claim(const Figure& figure);

/// Adds, for every tally that comparisons name, the deciding measure "so many of them hold", which
/// must be all. A comparison that is not decided counts half, with an error of a half.
void count_tallies(std::vector<Measure>& measures);

inline constexpr std::string_view kSign = "sign", kExponent = "exponent",
                                  kFactor = "factor of three", kSides = "sides exchanged",
                                  kClaimed = "as claimed";

/// A measure with a mistake in its number. tests/mistakes.py makes mistakes in what computes it.
struct Broken {
  std::string_view how;             // one of those above
  std::vector<Measure> measures{};  // in either direction
  bool by_construction = false;     // noticed whatever number in its range it was
  bool must_be_noticed = true;
};
/// Inside its range: its sign turned, its exponent off by one, a factor of three; a slope of a
/// power law is off by one itself. A comparison of a tally that says which side is larger, and not
/// by how much: its sides are exchanged; a factor of three is told, and need not be noticed. Not
/// inside: put where the claim says, for a wrong number stays wrong, and a vague one vague, however
/// it is broken.
std::vector<Broken> broken(const Measure& measure);
/// The ways of breaking it that its verdict does not notice, and must.
std::vector<std::string_view> unnoticed(const Measure& measure);

/// What notices a broken measure: the item's verdict, or only the measure's own, because another
/// measure or the other kind of data has decided the item.
enum class Notice { kNone, kMeasure, kItem };
/// Measure `index` of the figure's measures, or of those on its stand-in.
Notice notice_of(const Figure& figure, bool standin, size_t index, const Broken& way);

}  // namespace parley::reproduce
