#include "parley/protocol/pilot_guard.h"

#include <utility>

namespace parley::protocol {

bool PilotGuard::admits(std::span<const double> theta, std::span<const double> gradient,
                        std::span<const size_t> present) {
  if (!test_) return true;
  const bool first = !check_;
  if (first) check_ = test_->look_at(gradient, present);
  if (check_->alarm) see(theta, gradient);
  if (!first || !check_->alarm) return true;
  held_.assign(gradient.begin(), gradient.end());
  switch (test_->on_alarm()) {
    case charter::OnAlarm::kContinue:
      return true;
    case charter::OnAlarm::kAsk:
    case charter::OnAlarm::kAskGram:
      state_ = State::kAsks;
      return false;
    case charter::OnAlarm::kStop:
      state_ = State::kStopped;
      return false;
    case charter::OnAlarm::kGram:
      falls_back_ = true;
      return false;
  }
  return parley::check(false), false;
}

void PilotGuard::see(std::span<const double> theta, std::span<const double> gradient) {
  Seen now{{theta.begin(), theta.end()}, {gradient.begin(), gradient.end()}};
  for (size_t j = 0; j < theta.size(); ++j) now.gradient[j] += test_->l2() * theta[j];
  if (last_) now.loss = last_->loss;
  for (size_t j = 0; j < theta.size() && last_; ++j)
    now.loss += (now.gradient[j] + last_->gradient[j]) / 2 * (theta[j] - last_->theta[j]);
  if (!best_ || now.loss < best_->loss) best_ = now;
  last_ = std::move(now);
}

std::optional<std::vector<double>> PilotGuard::decide(bool go_on) {
  state_ = go_on ? State::kOpen : State::kStopped;
  falls_back_ = go_on && test_->on_alarm() == charter::OnAlarm::kAskGram;
  return go_on && !falls_back_ ? std::optional(std::exchange(held_, {})) : std::nullopt;
}

Result<std::optional<std::vector<double>>> PilotGuard::decide(const wire::Note& note) {
  if (asks() && note.round <= 1) return decide(note.round == 1);
  return Error{Code::kIntegrity, "a person's decision that was not asked for"};
}

std::optional<std::span<const double>> PilotGuard::best() const {
  if (!best_ || best_->theta == last_->theta) return std::nullopt;
  return best_->theta;
}

}  // namespace parley::protocol
