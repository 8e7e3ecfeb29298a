#include "studies/paper/sharing.h"

#include <cmath>
#include <utility>

#include "parley/base/math/eigen.h"
#include "parley/learn/vertical/admm/gram.h"

namespace parley::paper {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// Noise of covariance (D'D)^-1. Where columns depend on each other: of those that do not, in the
/// order of pivots, and none on the others. D times it then has the same covariance as with the
/// pseudo-inverse, the projection on the columns' space.
class ColumnNoise {
 public:
  ColumnNoise(const data::AnyRows& rows, int threads) {
    const MatrixXd gram = learn::gram_of_columns(rows, 0, threads);
    factor_.compute(gram);
    const VectorXd diagonal = factor_.matrixLLT().diagonal();
    if (factor_.info() == Eigen::Success && diagonal.minCoeff() > 1e-4 * diagonal.maxCoeff())
      return;
    pivoted_.compute(gram);
    const VectorXd pivots = pivoted_.vectorD();
    while (rank_ < pivots.size() && pivots[rank_] > 1e-9 * pivots[0]) ++rank_;
  }

  VectorXd draw(double sigma, Entropy& entropy) const {
    VectorXd z(factor_.rows());
    for (double& value : z) value = sigma * real_normal(entropy);
    if (rank_ == 0) return factor_.matrixU().solve(z);
    z.tail(z.size() - rank_).setZero();
    z.head(rank_).array() /= pivoted_.vectorD().head(rank_).array().sqrt();
    const MatrixXd& lower = pivoted_.matrixLDLT();
    lower.topLeftCorner(rank_, rank_)
        .triangularView<Eigen::UnitLower>()
        .transpose()
        .solveInPlace(z.head(rank_));
    return pivoted_.transpositionsP().transpose() * z;
  }

 private:
  Eigen::LLT<MatrixXd> factor_{};
  Eigen::LDLT<MatrixXd> pivoted_{};
  Index rank_ = 0;  // of columns that depend on each other; 0: they do not
};

}  // namespace

struct ColumnNoises::State {
  std::vector<ColumnNoise> parties{};
};

ColumnNoises::ColumnNoises(const std::vector<data::AnyRows>& columns, int threads)
    : state_(std::make_unique<State>()) {
  for (const data::AnyRows& block : columns) state_->parties.emplace_back(block, threads);
}

ColumnNoises::~ColumnNoises() = default;

std::vector<double> ColumnNoises::draw(size_t party, double sigma, Entropy& entropy) const {
  const VectorXd by = state_->parties[party].draw(sigma, entropy);
  return {by.begin(), by.end()};
}

Result<NotPrivate<NoisySharing>> share_with_noise(const std::vector<data::AnyRows>& columns,
                                                  const ColumnNoises& noises,
                                                  std::span<const double> labels,
                                                  const learn::AdmmOptions& options, double sigma,
                                                  Entropy& entropy) {
  NoisySharing out;
  learn::AdmmHooks hooks;
  hooks.after_step = [&](size_t m, learn::PartyStep& party) {
    party.shift(noises.draw(m, sigma, entropy));
  };
  hooks.after_round = [&](const learn::AdmmHooks::View& view) {
    auto& shares = out.shares.emplace_back();
    auto& models = out.models_by_round.emplace_back();
    for (const learn::PartyStep& party : view.parties) {
      shares.emplace_back(party.share().begin(), party.share().end());
      models.emplace_back(party.model().begin(), party.model().end());
    }
    out.y.assign(view.coordinator.y().begin(), view.coordinator.y().end());
  };
  learn::AdmmOptions unguarded = options;  // Noise alone makes an objective large.
  unguarded.guard = false;
  learn::AdmmResult result = TRY(learn::share_by_admm(columns, labels, unguarded, hooks));
  out.rounds = std::move(result.rounds);
  return NotPrivate<NoisySharing>{std::move(out)};
}

}  // namespace parley::paper
