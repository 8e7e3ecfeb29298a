#include "parley/forecast/pilot/gram_noise.h"

#include <cmath>
#include <numbers>

#include "parley/base/math/noise_floor.h"
#include "parley/base/math/number.h"
#include "parley/plan/budget.h"
#include "parley/plan/noise.h"
#include "parley/plan/sensitivity.h"

namespace parley::forecast {
namespace {

std::string help_text(const GramHelp& help) {
  return "An epsilon of " + significant(help.epsilon) + ", " +
         grouped(static_cast<uint64_t>(std::ceil(help.rows))) + " rows, or " +
         grouped(static_cast<uint64_t>(help.columns)) + " columns would bring it to " +
         significant(kGramWarned) + ".";
}

}  // namespace

GramNoise gram_noise(const GramJob& job) {
  check(job.rho > 0 && job.rows > 0 && job.share > 0 && job.share < 1);
  const double square = std::numbers::sqrt2 * job.row_norm * job.row_norm;
  const double entry = plan::gaussian_scale(square, job.surplus, job.share * job.rho) / job.rows;
  return {.entry = entry,
          .floor = noise_floor(entry, 1, job.columns),
          .gradient = plan::gaussian_scale(plan::kReplaceOne * job.clip, job.rounds * job.surplus,
                                           (1 - job.share) * job.rho) /
                      job.rows};
}

Result<GramHelp> gram_help(const GramJob& job, double delta) {
  const double times = gram_noise(job).floor / kGramWarned;  // The floor is as 1/sqrt(rho), 1/N.
  return GramHelp{.epsilon = TRY(plan::epsilon_of(job.rho * times * times, delta)),
                  .rows = job.rows * times,
                  .columns = static_cast<double>(job.columns) / (times * times)};
}

Result<std::string> gram_notice(const GramJob& job, double delta) {
  const GramNoise noise = gram_noise(job);
  const std::string numbers = "Noise on means over rows: " + significant(noise.entry) +
                              " on an entry of the Gram matrix (eigenvalues below " +
                              significant(noise.floor) + " are noise), " +
                              significant(noise.gradient) + " on a gradient's coordinate.";
  if (!(noise.floor > kGramWarned)) return numbers;
  const GramHelp help = TRY(gram_help(job, delta));
  if (noise.floor < kGramRefused) return numbers + " " + help_text(help);
  return Error{Code::kInvalid,
               "the Gram matrix would be noise: eigenvalues below " + significant(noise.floor) +
                   " could not be told from it, and those of most columns are below 1",
               help_text(help)};
}

}  // namespace parley::forecast
