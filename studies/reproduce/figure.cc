#include "studies/reproduce/figure.h"

#include <algorithm>
#include <cmath>

namespace parley::reproduce {

Verdict verdict_of(const Measure& measure) {
  if (!std::isfinite(measure.value) || !std::isfinite(measure.error))
    return Verdict::kNotReproduced;
  if (measure.least <= measure.value && measure.value <= measure.most) return Verdict::kReproduced;
  const double outside = std::max(measure.least - measure.value, measure.value - measure.most);
  return measure.conclusive && outside > 3 * measure.error ? Verdict::kRefuted
                                                           : Verdict::kNotReproduced;
}

Verdict verdict_of(const Figure& figure) {
  Verdict verdict = Verdict::kReproduced;
  bool decided = false;
  for (const Measure& measure : figure.measures) {
    if (!measure.decides) continue;
    decided = true;
    const Verdict one = verdict_of(measure);
    if (one == Verdict::kRefuted) return one;
    if (one == Verdict::kNotReproduced) verdict = one;
  }
  return decided ? verdict : Verdict::kNotReproduced;
}

bool fitted_to_claim(const Figure& figure) {
  return std::any_of(figure.measures.begin(), figure.measures.end(),
                     [](const Measure& measure) { return measure.decides && measure.fitted; });
}

}  // namespace parley::reproduce
