#include "parley/sim/engine/event_queue.h"

#include <cmath>

#include "parley/base/math/portable.h"

namespace parley::sim {

void EventQueue::plan(double in, Event event) {
  event.time = now_ + in;
  event.number = ++planned_;
  events_.push(std::move(event));
}

EventQueue::Sent EventQueue::send(Event message) {
  if (faults_.none()) return plan(0, std::move(message)), Sent::kOnItsWay;
  if (happens(faults_.drop)) return Sent::kLost;
  if (happens(faults_.corrupt)) return Sent::kDamaged;
  double& last = arrival_[{message.from, message.to}];
  double at = std::fmax(last, now_ + exponential(faults_.delay));
  if (happens(faults_.reorder)) at = now_;  // It overtakes what is on the way.
  last = std::fmax(last, at);
  if (happens(faults_.duplicate)) plan(at - now_, message);
  plan(at - now_, std::move(message));
  return Sent::kOnItsWay;
}

void EventQueue::reopen(size_t one, size_t other) {
  arrival_.erase({one, other});
  arrival_.erase({other, one});
}

std::optional<Event> EventQueue::next() {
  if (events_.empty()) return std::nullopt;
  Event event = std::move(const_cast<Event&>(events_.top()));
  events_.pop();
  now_ = event.time;
  return event;
}

double EventQueue::exponential(double mean) {
  return mean == 0 ? 0 : -mean * portable_log(uniform());
}

}  // namespace parley::sim
