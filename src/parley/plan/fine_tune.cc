#include "parley/plan/fine_tune.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "parley/base/math/number.h"
#include "parley/plan/noise.h"

namespace parley::plan {
namespace {

constexpr double kPart = 1.0 / 64;  // of d: the solver's distance, and each error
constexpr uint64_t kRowsMax = 1'000'000, kHingeRowsMax = 100'000;

double curvature_bound(const learn::Losses& loss) {
  const double smooth = learn::smoothness_of(loss);
  return smooth == learn::kUnbounded ? 1 : std::fmax(smooth, 1);
}

/// D, rounded up.
double bound_of(double moved) { return next_up(moved * (1 + 4 * kPart)); }

double longest_of(const FineTune::Setting& s) {
  const double p = static_cast<double>(s.columns), n = static_cast<double>(s.rows);
  const double error = curvature_bound(s.loss) * 1.01 * p * std::sqrt(p) * 0x1p-53 * s.box;
  return std::sqrt(s.max_grad_norm * s.unit_records * kPart / (n * error));
}

}  // namespace

Result<FineTune> FineTune::make(const Setting& setting) {
  const bool hinge = std::holds_alternative<learn::Hinge>(setting.loss);
  const uint64_t most = hinge ? kHingeRowsMax : kRowsMax;
  if (setting.rows > most)
    return Error{Code::kInvalid,
                 "a tuned model is published of at most " + grouped(most) + " rows, found " +
                     grouped(setting.rows),
                 "Leave protocol.publish out.",
                 {.key = "protocol.publish"}};
  check(setting.l2 + setting.pull > 0 && setting.rows > 0);
  const double moved = minimum_moves(setting.max_grad_norm, setting.unit_records, setting.rows,
                                     next_down(setting.l2 + setting.pull));
  const auto lattice =
      TRY(learn::Lattice::make(bound_of(moved), setting.grid_bits, setting.columns));
  if (setting.box / lattice.gamma() > 0x1p60)
    return Error{Code::kInvalid, "the tuned model does not fit 64 bits on this lattice",
                 "Use fewer grid_bits or a smaller box."};
  return FineTune(setting, lattice, moved);
}

template <class Norm>
double FineTune::sensitivity() const {
  const double root = next_up(std::sqrt(static_cast<double>(setting_.columns)));
  const double l2 = add_up(next_up(bound_of(moved_) / lattice_.gamma()), root);
  return std::ceil(std::is_same_v<Norm, L1> ? next_up(root * l2) : l2);
}

learn::Prox FineTune::prox(std::span<const double> center) const {
  return {.center = {center.begin(), center.end()},
          .pull = setting_.pull,
          .l2 = setting_.l2,
          .box = setting_.box,
          .norm = learn::ClipIn::kL2,
          .limit = setting_.max_grad_norm,
          .longest = longest_of(setting_)};
}

double FineTune::distance() const { return moved_ * kPart; }

template double FineTune::sensitivity<L1>() const;
template double FineTune::sensitivity<L2>() const;

}  // namespace parley::plan
