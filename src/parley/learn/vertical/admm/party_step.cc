#include "parley/learn/vertical/admm/party_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/eigen.h"
#include "parley/learn/solver/design.h"
#include "parley/learn/vertical/admm/gram.h"

namespace parley::learn {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

Design design_of(const data::AnyRows& rows, int threads) {
  Design design(data::columns_of(rows), threads);
  std::visit([&](const auto& kind) { design.add(*kind); }, rows);
  return design;
}

/// One way to make the step, chosen once.
class Solver {
 public:
  virtual ~Solver() = default;
  /// x for the given D'v and v; the x before is a start.
  virtual void solve(const VectorXd& combined, std::span<const double> v, VectorXd& x) const = 0;
};

/// (D'D + ratio I) x = D'v
class Primal final : public Solver {
 public:
  Primal(const data::AnyRows& rows, double ratio, int threads)
      : factor_(gram_of_columns(rows, ratio, threads)) {}
  bool ok() const { return factor_.info() == Eigen::Success; }
  void solve(const VectorXd& combined, std::span<const double>, VectorXd& x) const override {
    x = factor_.solve(combined);
  }

 private:
  Eigen::LLT<MatrixXd> factor_;
};

/// x = D'(DD' + ratio I)^-1 v, for fewer records than columns.
class Dual final : public Solver {
 public:
  Dual(const data::AnyRows& rows, const Design& design, double ratio, int threads)
      : design_(design), factor_(gram_of_rows(rows, ratio, threads)) {}
  bool ok() const { return factor_.info() == Eigen::Success; }
  void solve(const VectorXd&, std::span<const double> v, VectorXd& x) const override {
    const VectorXd u =
        factor_.solve(Eigen::Map<const VectorXd>(v.data(), static_cast<Index>(v.size())));
    const auto combined = design_.combination({u.data(), v.size()});
    x = Eigen::Map<const VectorXd>(combined.data(), x.size());
  }

 private:
  const Design& design_;
  Eigen::LLT<MatrixXd> factor_;
};

/// Coordinate after coordinate on D'D, from the x before, until none moves a score by much.
class Lasso final : public Solver {
 public:
  Lasso(const data::AnyRows& rows, double ratio, int threads)
      : gram_(gram_of_columns(rows, 0, threads)), ratio_(ratio) {
    gram_.triangularView<Eigen::StrictlyUpper>() = gram_.transpose();
  }
  void solve(const VectorXd& combined, std::span<const double>, VectorXd& x) const override {
    constexpr int kPassesMax = 10000;
    VectorXd rest = combined - gram_ * x;
    const double small = 1e-12 * (1 + combined.lpNorm<Eigen::Infinity>());
    for (int pass = 0; pass < kPassesMax; ++pass)
      if (!(pass_over(x, rest) > small)) return;
  }

 private:
  /// The largest change of a gradient.
  double pass_over(VectorXd& x, VectorXd& rest) const {
    double largest = 0;
    for (Index j = 0; j < x.size(); ++j) {
      const double square = gram_(j, j);
      if (square <= 0) continue;
      const double pull = rest[j] + square * x[j];
      const double next = std::copysign(std::max(std::fabs(pull) - ratio_, 0.0), pull) / square;
      if (next == x[j]) continue;
      largest = std::max(largest, square * std::fabs(next - x[j]));
      rest -= (next - x[j]) * gram_.col(j);
      x[j] = next;
    }
    return largest;
  }

  MatrixXd gram_;
  double ratio_;
};

}  // namespace

struct PartyStep::State {
  State(data::AnyRows kept, Penalty of, double factor, int threads)
      : rows(std::move(kept)),
        design(design_of(rows, threads)),
        penalty(of),
        lam(factor),
        x(VectorXd::Zero(static_cast<Index>(design.columns()))),
        v(design.rows()),
        share(design.rows()) {}

  data::AnyRows rows;
  Design design;
  Penalty penalty;
  double lam;
  std::unique_ptr<Solver> solver{};
  VectorXd x;
  std::vector<double> v, share;
};

PartyStep::PartyStep(std::unique_ptr<State> state) : state_(std::move(state)) {}
PartyStep::PartyStep(PartyStep&&) noexcept = default;
PartyStep& PartyStep::operator=(PartyStep&&) noexcept = default;
PartyStep::~PartyStep() = default;

Result<PartyStep> PartyStep::make(data::AnyRows rows, Penalty penalty, double lam, double rho,
                                  int threads) {
  check(rho > 0 && data::columns_of(rows) > 0);
  if (!(lam > 0))
    return Error{Code::kInvalid, "l2 must be above 0: columns may depend on each other",
                 "For example l2 = 1e-5."};
  auto state = std::make_unique<State>(std::move(rows), penalty, lam, threads);
  const data::AnyRows& kept = state->rows;
  bool ok = true;
  if (penalty == Penalty::kSizes) {
    state->solver = std::make_unique<Lasso>(kept, lam / rho, threads);
  } else if (state->design.columns() <= state->design.rows()) {
    auto primal = std::make_unique<Primal>(kept, lam / rho, threads);
    ok = primal->ok();
    state->solver = std::move(primal);
  } else {
    auto dual = std::make_unique<Dual>(kept, state->design, lam / rho, threads);
    ok = dual->ok();
    state->solver = std::move(dual);
  }
  if (!ok)
    return Error{Code::kInvalid, "the columns depend on each other too closely for this l2",
                 "Raise l2, or lower rho."};
  return PartyStep(std::move(state));
}

void PartyStep::step(std::span<const double> h) {
  State& s = *state_;
  check(h.size() == s.v.size());
  for (size_t i = 0; i < h.size(); ++i) s.v[i] = s.share[i] - h[i];
  const auto combined = s.design.combination(s.v);
  s.solver->solve(Eigen::Map<const VectorXd>(combined.data(), s.x.size()), s.v, s.x);
  s.design.scores(model(), s.share);
}

void PartyStep::shift(std::span<const double> by) {
  State& s = *state_;
  check(by.size() == model().size());
  s.x += Eigen::Map<const VectorXd>(by.data(), s.x.size());
  s.design.scores(model(), s.share);
}

std::span<const double> PartyStep::model() const {
  return {state_->x.data(), static_cast<size_t>(state_->x.size())};
}

std::span<const double> PartyStep::share() const { return state_->share; }

double PartyStep::penalty() const {
  const State& s = *state_;
  return s.lam * (s.penalty == Penalty::kSquares ? s.x.squaredNorm() / 2 : s.x.lpNorm<1>());
}

}  // namespace parley::learn
