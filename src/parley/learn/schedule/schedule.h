// One table for every iterative rule: the learner, Monte Carlo and the forecast read the same
// table, and rules differ only in the function that fills it. In round k:
//
//   v       <- momentum v + (l2 theta[k] + gradient)
//   theta[k+1] = clamp(theta[k] - cut(a_k M v))
//   average <- (1 - q_k) average + q_k theta[k+1],   average = theta[1] before the first round
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace parley::learn {

struct Schedule {
  struct Round {
    double step;     // a_k
    double average;  // q_k
  };
  std::vector<Round> rounds;           // one per answer
  std::vector<double> start;           // theta[1]
  std::vector<double> preconditioner;  // M, row-major p x p; empty is the identity
  double momentum = 0;
  double longest = 0;  // every coordinate of a step is cut to it; 0: steps are not cut
};

/// What the output is made of: the last iterate, the weighted average of all (Wu et al., Algorithm
/// 2) or the plain average of the last half.
enum class Average { kNone, kPaper, kTail };

/// Wu et al., Algorithm 1: a_k = rho / (T^2 k), T - 1 answers.
Schedule algorithm1(uint32_t answers, double rho, Average average, std::vector<double> start);

/// Wu et al., Algorithm 2: a_k = c / sqrt(k). The paper asks T - 1 queries of which the last never
/// reaches its output; here every answer does, so T = answers + 2.
Schedule algorithm2(uint32_t answers, double c, Average average, std::vector<double> start);

/// The same step in every round, best at 1 / (largest curvature); its output is the average of the
/// last half, which forgets the start (theory (D3)).
Schedule constant_step(uint32_t answers, double step, Average average, std::vector<double> start);

/// For fitness that is l2-strongly convex but not smooth: a_k = scale / (l2 k) (theory (D4)).
Schedule strongly_convex(uint32_t answers, double scale, double l2, Average average,
                         std::vector<double> start);

/// Newton steps with the curvature of public rows: start at their optimum, M the inverse Hessian of
/// the clipped loss there; a = 1 and then 1/2 for two answers, 1/sqrt(k) for any other number
/// (theory (D5)).
Schedule pilot_newton(uint32_t answers, double scale, Average average, std::vector<double> start,
                      std::vector<double> inverse_hessian);

/// Steps by the curvature of a noisy Gram matrix, which Descent::precondition brings: a = 1, 1,
/// then 2/(k+1), so that the noise of later rounds averages out; the output is the last iterate
/// (theory (W10)).
Schedule gram_steps(uint32_t answers, std::vector<double> start);

/// The iterates of `runs` independent runs of one schedule, as columns of one p x runs state.
/// Column r goes through the same operations whatever the number of runs.
class Descent {
 public:
  Descent(Schedule schedule, double box, double l2, size_t runs = 1);

  /// M, where it was not known when the schedule was made. Before the first round.
  void precondition(std::vector<double> inverse_hessian);

  /// One round: `gradients` holds the mean gradient of the data, column by column.
  void step(std::span<const double> gradients);

  size_t dimension() const { return schedule_.start.size(); }
  size_t runs() const { return runs_; }
  size_t rounds_done() const { return done_; }
  bool finished() const { return done_ == schedule_.rounds.size(); }
  std::span<const double> theta(size_t run = 0) const { return column(theta_, run); }
  std::span<const double> average(size_t run = 0) const { return column(average_, run); }

 private:
  std::span<const double> column(const std::vector<double>& state, size_t run) const {
    return {&state[run * dimension()], dimension()};
  }

  Schedule schedule_;
  double box_;
  double l2_;
  size_t runs_;
  size_t done_ = 0;
  std::vector<double> theta_, velocity_, average_;
};

}  // namespace parley::learn
