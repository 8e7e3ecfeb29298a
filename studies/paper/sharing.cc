#include "studies/paper/sharing.h"

#include <cmath>
#include <utility>

#include "parley/base/math/eigen.h"
#include "parley/learn/vertical/admm/gram.h"

namespace parley::paper {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// Cholesky's factor of the columns that do not depend on others: the one with most left of it is
/// next, until all of the rest are combinations of those chosen.
struct Independent {
  std::vector<Index> columns{};
  MatrixXd lower{};
};

Independent independent_of(const MatrixXd& gram) {
  constexpr double kNothing = 1e-9;  // of the longest column's square
  VectorXd left = gram.diagonal();
  const double most = left.maxCoeff();
  MatrixXd factor(gram.rows(), gram.cols());
  Independent found;
  for (Index k = 0, next = 0; k < gram.cols() && left.maxCoeff(&next) > kNothing * most; ++k) {
    factor.col(k) = gram.col(next) - factor.leftCols(k) * factor.row(next).head(k).transpose();
    factor.col(k) /= std::sqrt(left[next]);
    left -= factor.col(k).cwiseAbs2();
    left[next] = 0;
    found.columns.push_back(next);
  }
  found.lower = factor(found.columns, Eigen::seqN(0, Index(found.columns.size())));
  return found;
}

/// Noise of covariance (D'D)^-1. Where columns depend on each other: of those that do not, and none
/// on the others. D times it then has the covariance that the pseudo-inverse would give it, the
/// projection on the columns' space.
class ColumnNoise {
 public:
  ColumnNoise(const data::AnyRows& rows, int threads) {
    const MatrixXd gram = learn::gram_of_columns(rows, 0, threads);
    factor_.compute(gram);
    const VectorXd diagonal = factor_.matrixLLT().diagonal();
    if (factor_.info() == Eigen::Success && diagonal.minCoeff() > 1e-4 * diagonal.maxCoeff())
      return;
    some_ = independent_of(gram.selfadjointView<Eigen::Lower>());
  }

  VectorXd draw(double sigma, Entropy& entropy) const {
    VectorXd z(factor_.rows());
    for (double& value : z) value = sigma * real_normal(entropy);
    if (some_.columns.empty()) return factor_.matrixU().solve(z);
    VectorXd noise = VectorXd::Zero(z.size());
    VectorXd part = z.head(Index(some_.columns.size()));
    some_.lower.triangularView<Eigen::Lower>().transpose().solveInPlace(part);
    noise(some_.columns) = part;
    return noise;
  }

 private:
  Eigen::LLT<MatrixXd> factor_{};
  Independent some_{};  // where columns depend on each other
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
