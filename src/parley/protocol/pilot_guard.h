// The test of the pilot between the first paid answers and the first step of rule pilot_newton: are
// the answers what the pilot predicts (theory (W11))? `on_alarm` says what follows an alarm:
//
//   continue   training goes on, and the result says so
//   ask        no step is made and nothing more is paid before a person has decided
//   stop       the job ends with the pilot's model
//   gram       training starts again with a Gram matrix of the owners' records in place of the
//              pilot's curvature
//   ask_gram   the same, after a person has agreed
//
// Whoever has the answers, such as `parley verify`, computes the same alarm; the person's decision
// is recorded.
//
// Where training went on after an alarm, the best iterate is kept as far as paid gradients can
// tell: along a line the loss changes by about the mean of the gradients at its ends times its
// length, and exactly so for squared loss. If the last iterate at which owners answered is not the
// best, the best one becomes the model.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/plan/learner/pilot_check.h"
#include "parley/wire/transcript.h"

namespace parley::protocol {

class PilotGuard {
 public:
  PilotGuard() = default;  // admits everything
  explicit PilotGuard(plan::PilotTest test) : test_(std::move(test)) {}

  /// May a step be made with these owners' mean answer at theta? If not, it is held back.
  bool admits(std::span<const double> theta, std::span<const double> gradient,
              std::span<const size_t> present);

  /// None before the first answers, and where nothing is tested.
  const std::optional<learn::PilotCheck>& check() const { return check_; }
  bool asks() const { return state_ == State::kAsks; }
  bool stopped() const { return state_ == State::kStopped; }
  bool holds() const { return asks() || stopped(); }
  /// Rule gram goes on with what is left.
  bool falls_back() const { return falls_back_; }

  /// A person has decided: the held answer, with which training goes on; or nothing, and the job
  /// has ended, or falls back.
  std::optional<std::vector<double>> decide(bool go_on);
  /// The same from a note; an error where nothing was asked.
  Result<std::optional<std::vector<double>>> decide(const wire::Note& note);

  /// After an alarm: the best of the iterates, if it is not the last one that owners have seen.
  std::optional<std::span<const double>> best() const;

 private:
  enum class State { kOpen, kAsks, kStopped };
  struct Seen {
    std::vector<double> theta, gradient;  // with l2
    double loss = 0;                      // less that of the first
  };
  void see(std::span<const double> theta, std::span<const double> gradient);

  std::optional<plan::PilotTest> test_{};
  State state_ = State::kOpen;
  bool falls_back_ = false;
  std::optional<learn::PilotCheck> check_{};
  std::vector<double> held_{};
  std::optional<Seen> best_{}, last_{};  // after an alarm
};

}  // namespace parley::protocol
