#include "parley/learn/vertical/noisy_sharing.h"

#include <algorithm>
#include <cmath>

#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

double up(double value) { return value * (1 + 0x1p-40); }

/// All records row after row, each shrunk to length `most`, a little less for what rounding does.
std::vector<double> dense(const data::AnyRows& rows, double most) {
  const size_t p = data::columns_of(rows);
  std::vector<double> data(data::size_of(rows) * p);
  for (size_t i = 0; i < data::size_of(rows); ++i) {
    const std::span<double> row{&data[i * p], p};
    if (const auto* full = std::get_if<0>(&rows)) {
      std::copy_n((*full)->row(i).begin(), p, row.begin());
    } else {
      const auto& sparse = *std::get<1>(rows);
      for (size_t k = 0; k < sparse.row_indices(i).size(); ++k)
        row[sparse.row_indices(i)[k]] = sparse.row_values(i)[k];
    }
    const double length = length_of(row), bound = most * (1 - 0x1p-40);
    if (length > bound)
      for (double& value : row) value *= bound / length;
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
        x_(data::columns_of(rows)),
        ridge_(plan.lam / plan.rho),
        ball_(plan.balls[party]),
        tolerance_(plan.tolerance(party)) {
    const std::vector<double> ones(data::size_of(rows), 1);
    of_products_ = spectrum(sum_of_squares(ones, data_), x_.size());
    for (double& value : of_products_.values) value = std::max(value, 0.0);
  }

  /// By the eigenvectors of D'D; where the minimiser lies outside the ball, with the multiplier
  /// that brings it to its edge, found by bisection.
  void solve(std::span<const double> target) {
    const std::vector<double> b = times(of_products_.vectors, combined(target));
    const auto at = [&](double more) {
      std::vector<double> found = b;
      for (size_t k = 0; k < b.size(); ++k) found[k] /= of_products_.values[k] + ridge_ + more;
      return found;
    };
    double low = 0, high = 0;
    if (length_of(at(0)) > ball_) {
      for (high = 1; length_of(at(high)) > ball_;) high *= 2;
      for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        (length_of(at(middle)) > ball_ ? low : high) = middle;
      }
    }
    x_ = product(at(high), of_products_.vectors, x_.size());
    check_exact(target, high);
  }

  size_t rows() const { return data_.size() / x_.size(); }
  std::vector<double> scores() const { return times(data_, x_); }
  const std::vector<double>& x() const { return x_; }

 private:
  /// D' times one number per record.
  std::vector<double> combined(std::span<const double> factors) const {
    return product(factors, data_, factors.size());
  }

  /// With e what is left of its gradient and s how much shorter it is than the ball,
  /// |D (x - exact)| is at most |e| / sqrt(lam rho) + sqrt(2 s |gradient|), by strong convexity;
  /// here in units of rho. Holds for all records where the plan's rounding() is below tolerance(),
  /// which plan/vertical_terms.h asks for.
  void check_exact(std::span<const double> target, double multiplier) const {
    std::vector<double> off = scores();
    for (size_t i = 0; i < off.size(); ++i) off[i] -= target[i];
    std::vector<double> slope = combined(off), left = slope;
    for (size_t j = 0; j < x_.size(); ++j) {
      slope[j] += ridge_ * x_[j];
      left[j] = slope[j] + multiplier * x_[j];
    }
    const double length = length_of(x_);
    const double gap = multiplier > 0 ? std::max(0.0, ball_ - length) : 0;
    check(length <= ball_ * (1 + 0x1p-40));
    check(length_of(left) / std::sqrt(ridge_) + std::sqrt(2 * gap * length_of(slope)) <=
          tolerance_);
  }

  std::vector<double> data_;  // D, row after row
  Spectrum of_products_{};    // of D'D
  std::vector<double> x_;
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
  check(published.size() == h.size() && h.size() == solver_->rows());
  std::vector<double> target(h.size());
  for (size_t i = 0; i < target.size(); ++i)
    target[i] = std::clamp(published[i] - h[i], -plan_.target_clip, plan_.target_clip);
  solver_->solve(target);
  const double clip = plan_.message_clip(party_);
  std::vector<int64_t> out;
  for (const double score : solver_->scores())
    out.push_back(static_cast<int64_t>(
        std::nearbyint(std::ldexp(std::clamp(score, -clip, clip), plan_.fraction))));
  return out;
}

std::span<const double> NoisySharingParty::model() const { return solver_->x(); }

}  // namespace parley::learn
