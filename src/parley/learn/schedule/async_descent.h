// Asynchronous descent (Farokhi et al., equations (5) to (7)): the learner keeps its own point
// theta_L and one copy theta_i per owner, all zero at first, and every answer moves two of them.
//
//   (6)  middle  = (theta_L + theta_i) / 2                                where owner i is asked
//   (5)  theta_i = clamp(middle - a_i (l2 middle / (2N) + v_i gradient))
//   (7)  theta_L = clamp(middle - a l2 middle / 2)
//
// The paper's alpha / sigma is a, and a_i = N a, because owner i answers once in N rounds. An owner
// whose clock is r_i times as fast answers more often and takes shorter steps: a_i = a (sum r) /
// r_i. In expectation over which owner answers, the two updates are one step of length a against
// the gradient of the fitness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/learn/loss.h"

namespace parley::learn {

/// What is handed over at the end. The tail average is over theta_L in the last half of the rounds;
/// copies is the mean of theta_L and all N copies. Both cost nothing (theory (D11)).
enum class AsyncOutput { kLast, kTail, kCopies };

struct AsyncRule {
  struct Owner {
    double step = 0;    // a_i
    double weight = 0;  // v_i; they add up to 1
  };
  double step = 0;  // a
  double l2 = 0;
  double box = 0;
  size_t dimension = 0;
  uint64_t rounds = 0;  // of all owners together
  AsyncOutput output = AsyncOutput::kTail;
  std::vector<Owner> owners{};

  /// One owner more, whose clock has this rate; set_steps() after the last.
  void add(double weight, double rate) { owners.push_back({rate, weight}); }
  void set_steps() {
    double rates = 0;
    for (const Owner& owner : owners) rates += owner.step;
    for (Owner& owner : owners) owner.step = step * rates / owner.step;
  }
};

/// max_i a_i (v_i curvature + l2 / (2N)): from 2 on, the copy of some owner swings further with
/// every answer; at most 1.2 is recommended (theory (D9)).
double stability(const AsyncRule& rule, double curvature);

/// The largest curvature of the mean loss of public rows, in any direction and anywhere; infinite
/// for a loss with a kink.
double largest_curvature(const Losses& loss, const data::Rows& rows);
/// The same of any rows within the bounds of a schema without a bundle.
double largest_curvature(const Losses& loss, const data::Schema& schema);

class AsyncDescent {
 public:
  explicit AsyncDescent(AsyncRule rule);

  /// (6) for the learner's point now, or as it was.
  std::vector<double> middle(size_t owner) const { return middle(owner, theta_); }
  std::vector<double> middle(size_t owner, std::span<const double> theta) const;

  /// (5) and (7): owner's mean gradient has come. If others came since it was asked, the gradient
  /// is a little old, and moves the points where they are now.
  void step(size_t owner, std::span<const double> gradient);

  const AsyncRule& rule() const { return rule_; }
  uint64_t rounds_done() const { return done_; }
  bool finished() const { return done_ == rule_.rounds; }
  std::span<const double> theta() const { return theta_; }
  std::span<const double> copy(size_t owner) const {
    return {&copies_[owner * rule_.dimension], rule_.dimension};
  }
  std::vector<double> output() const;

 private:
  AsyncRule rule_;
  uint64_t done_ = 0;
  std::vector<double> theta_;    // theta_L
  std::vector<double> copies_;   // theta_1 .. theta_N, one after the other
  std::vector<double> average_;  // of the tail
  std::vector<double> sum_;      // of all copies
};

}  // namespace parley::learn
