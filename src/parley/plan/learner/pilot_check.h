// What the learner of a job with rule pilot_newton tests the first paid answers with (theory
// (W11)): rows of the pilot, how owners clip, how much noise each adds. All of it is public.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/pilot/wrong_pilot.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/sums/gram.h"

namespace parley::plan {

class PilotTest {
 public:
  /// Nothing where the rule takes no curvature from the pilot. Keeps a copy of its rows.
  static Result<std::optional<PilotTest>> make(const charter::Charter& charter,
                                               const data::Rows* pilot,
                                               const learn::Schedule& schedule,
                                               const std::vector<PlannedOwner>& owners);

  /// The weighted mean of the first answers of these owners, by their places in the charter.
  learn::PilotCheck look_at(std::span<const double> gradient,
                            std::span<const size_t> present) const;

  charter::OnAlarm on_alarm() const { return on_alarm_; }
  double l2() const { return pilot_.l2; }

 private:
  PilotTest() = default;
  learn::PilotCheck::Left left(std::span<const double> hessian, double deviation, double gap) const;

  learn::PilotFit pilot_{};  // at the start; its Hessian is made when it is needed
  learn::RecordClip clip_{};
  learn::Schedule steps_{};
  struct Gram {
    GramNoise noise{};
    double curvature = 0;  // the most that the loss has
  };
  std::optional<Gram> gram_{};  // after an alarm
  struct Share {
    double weight = 0, rows = 0;
    double variance = 0;  // of its noise on a coordinate of the mean of all
  };
  std::vector<Share> owners_{};
  charter::OnAlarm on_alarm_ = charter::OnAlarm::kContinue;
  double tau_ = 0;  // how much owners are known to differ
};

/// What a person is told: the numbers, in one or two sentences.
std::string to_text(const learn::PilotCheck& check);

}  // namespace parley::plan
