#include "studies/paper/sharing.h"

#include <cmath>
#include <utility>

#include "parley/base/math/eigen.h"
#include "parley/learn/vertical/admm/gram.h"

namespace parley::paper {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// Noise of covariance (D'D)^+.
class ColumnNoise {
 public:
  ColumnNoise(const data::AnyRows& rows, int threads) {
    const MatrixXd gram = learn::gram_of_columns(rows, 0, threads);
    factor_.compute(gram);
    const VectorXd diagonal = factor_.matrixLLT().diagonal();
    if (factor_.info() == Eigen::Success && diagonal.minCoeff() > 1e-4 * diagonal.maxCoeff())
      return;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram);
    const VectorXd& values = eigen.eigenvalues();
    root_ = eigen.eigenvectors();
    for (Index j = 0; j < values.size(); ++j)
      root_.col(j) *= values[j] > 1e-9 * values.maxCoeff() ? 1 / std::sqrt(values[j]) : 0;
  }

  VectorXd draw(double sigma, Entropy& entropy) const {
    VectorXd z(factor_.rows());
    for (double& value : z) value = sigma * real_normal(entropy);
    if (root_.size() > 0) return root_ * z;
    return factor_.matrixU().solve(z);
  }

 private:
  Eigen::LLT<MatrixXd> factor_{};
  MatrixXd root_{};  // of the pseudo-inverse, where there is no inverse
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
