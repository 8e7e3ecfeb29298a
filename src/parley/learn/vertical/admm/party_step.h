// The x-update of ADMM sharing: what a party does with its own columns D of all records. The
// quadratic part is factored once; every later step costs two passes over D.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/any_rows.h"

namespace parley::learn {

enum class Penalty { kSquares, kSizes };  // (lam/2)|x|^2, or lam |x|_1

class PartyStep {
 public:
  /// For sums over records, not means. `rows` are kept. Needs lam > 0: columns may depend on each
  /// other, as one-hot groups do.
  static Result<PartyStep> make(data::AnyRows rows, Penalty penalty, double lam, double rho,
                                int threads = 1);
  PartyStep(PartyStep&&) noexcept;
  PartyStep& operator=(PartyStep&&) noexcept;
  ~PartyStep();

  /// Moves to x = argmin penalty(x) + (rho/2)|D x - v|^2 with v = (D x before) - h.
  void step(std::span<const double> h);
  /// Adds to x: what the paper's private version does after every step.
  void shift(std::span<const double> by);

  std::span<const double> model() const;  // x, at first 0
  std::span<const double> share() const;  // D x, one number per record: what the party sends
  double penalty() const;                 // at x

 private:
  struct State;
  explicit PartyStep(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::learn
