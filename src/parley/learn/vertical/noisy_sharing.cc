#include "parley/learn/vertical/noisy_sharing.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"

namespace parley::learn {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

double up(double value) { return value * (1 + 0x1p-40); }

/// Of a record: shrunk to length `most`, a little less for what rounding does.
VectorXd shrunk(VectorXd row, double most) {
  const double norm = row.norm(), bound = most * (1 - 0x1p-40);
  return norm > bound ? VectorXd(row * (bound / norm)) : row;
}

MatrixXd dense(const data::AnyRows& rows, double most) {
  MatrixXd data =
      MatrixXd::Zero(Eigen::Index(data::size_of(rows)), Eigen::Index(data::columns_of(rows)));
  for (Eigen::Index i = 0; i < data.rows(); ++i) {
    if (const auto* full = std::get_if<0>(&rows)) {
      const auto row = (*full)->row(size_t(i));
      for (Eigen::Index j = 0; j < data.cols(); ++j) data(i, j) = row[size_t(j)];
    } else {
      const auto& sparse = *std::get<1>(rows);
      for (size_t k = 0; k < sparse.row_indices(size_t(i)).size(); ++k)
        data(i, sparse.row_indices(size_t(i))[k]) = sparse.row_values(size_t(i))[k];
    }
    data.row(i) = shrunk(data.row(i), most);
  }
  return data;
}

}  // namespace

double NoisySharingPlan::bound(size_t party) const {
  const double r = row_norms[party], b = balls[party];
  const double own = 2 * message_clip(party);
  const double others = 2 * std::sqrt(rho / lam) * r * (r * b + target_clip);
  return up(std::sqrt(own * own + others * others));
}

/// A thousandth of the bound: next to nothing in noise, and far above what rounding does.
double NoisySharingPlan::tolerance(size_t party) const { return bound(party) / 1000; }

/// With S = N R (R B + V) + (lam/rho) B, above every gradient: sums of N + p products lose (N + p)
/// u S, the eigenvectors, whose error is that of a matrix off by a few p u |D'D|, no more.
/// Bisection finds the multiplier to its last bit, by which x moves no more than by u; eigenvectors
/// that are orthogonal up to p u keep its length to (p + 4) 2 u, and so near is it to the ball's
/// edge. The terms are those of Solver::check_exact.
double NoisySharingPlan::rounding(size_t party, size_t columns) const {
  const double r = row_norms[party], b = balls[party], ridge = lam / rho;
  const double n = static_cast<double>(rows), p = static_cast<double>(columns);
  const double slope = n * r * (r * b + target_clip) + ridge * b;
  const double gap = (p + 4) * 0x1p-51 * b;
  return up(4 * (n + p) * 0x1p-53 * slope / std::sqrt(ridge) + std::sqrt(2 * gap * slope));
}

double NoisySharingPlan::sensitivity() const {
  const double gamma = std::ldexp(1.0, -fraction);
  double squares = 0;
  for (size_t m = 0; m < row_norms.size(); ++m) {
    const double all = bound(m) + gamma * std::sqrt(static_cast<double>(rows)) + 2 * tolerance(m);
    squares += all * all;
  }
  return up(std::sqrt(squares) / gamma);
}

/// x = argmin over |x| <= ball of (lam/2)|x|^2 + (rho/2)|D x - v|^2.
class NoisySharingParty::Solver {
 public:
  Solver(const data::AnyRows& rows, const NoisySharingPlan& plan, size_t party)
      : data_(dense(rows, plan.row_norms[party])),
        ridge_(plan.lam / plan.rho),
        ball_(plan.balls[party]),
        tolerance_(plan.tolerance(party)) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(MatrixXd(data_.transpose() * data_));
    vectors_ = solver.eigenvectors();
    values_ = solver.eigenvalues().cwiseMax(0);
    x_ = VectorXd::Zero(data_.cols());
  }

  /// By the eigenvectors of D'D; where the minimiser lies outside the ball, with the multiplier
  /// that brings it to its edge, found by bisection.
  void solve(const VectorXd& target) {
    const VectorXd b = vectors_.transpose() * (data_.transpose() * target);
    const auto at = [&](double more) {
      return VectorXd(b.array() / (values_.array() + ridge_ + more));
    };
    double low = 0, high = 0;
    if (at(0).norm() > ball_) {
      for (high = 1; at(high).norm() > ball_;) high *= 2;
      for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        (at(middle).norm() > ball_ ? low : high) = middle;
      }
    }
    x_ = vectors_ * at(high);
    check_exact(target, high);
  }

  const MatrixXd& data() const { return data_; }
  const VectorXd& x() const { return x_; }

 private:
  /// With e what is left of its gradient and s how much shorter it is than the ball,
  /// |D (x - exact)| is at most |e| / sqrt(lam rho) + sqrt(2 s |gradient|), by strong convexity;
  /// here in units of rho. Holds for all records where the plan's rounding() is below tolerance(),
  /// which plan/vertical_terms.h asks for.
  void check_exact(const VectorXd& target, double multiplier) const {
    const VectorXd slope = data_.transpose() * (data_ * x_ - target) + ridge_ * x_;
    const double left = (slope + multiplier * x_).norm();
    const double gap = multiplier > 0 ? std::max(0.0, ball_ - x_.norm()) : 0;
    check(x_.norm() <= ball_ * (1 + 0x1p-40));
    check(left / std::sqrt(ridge_) + std::sqrt(2 * gap * slope.norm()) <= tolerance_);
  }

  MatrixXd data_;     // D
  MatrixXd vectors_;  // of D'D
  VectorXd values_, x_;
  double ridge_, ball_, tolerance_;
};

NoisySharingParty::NoisySharingParty(const data::AnyRows& rows, const NoisySharingPlan& plan,
                                     size_t party)
    : plan_(plan), party_(party), solver_(std::make_unique<Solver>(rows, plan, party)) {}

NoisySharingParty::NoisySharingParty(NoisySharingParty&&) noexcept = default;
NoisySharingParty& NoisySharingParty::operator=(NoisySharingParty&&) noexcept = default;
NoisySharingParty::~NoisySharingParty() = default;

std::vector<int64_t> NoisySharingParty::step(std::span<const double> published,
                                             std::span<const double> h) {
  check(published.size() == h.size() && h.size() == size_t(solver_->data().rows()));
  VectorXd target(solver_->data().rows());
  for (Eigen::Index i = 0; i < target.size(); ++i)
    target[i] =
        std::clamp(published[size_t(i)] - h[size_t(i)], -plan_.target_clip, plan_.target_clip);
  solver_->solve(target);
  const VectorXd scores = solver_->data() * solver_->x();
  const double clip = plan_.message_clip(party_);
  std::vector<int64_t> out;
  for (const double score : scores)
    out.push_back(static_cast<int64_t>(
        std::nearbyint(std::ldexp(std::clamp(score, -clip, clip), plan_.fraction))));
  return out;
}

std::span<const double> NoisySharingParty::model() const {
  return {solver_->x().data(), size_t(solver_->x().size())};
}

}  // namespace parley::learn
