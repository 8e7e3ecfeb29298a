#include "parley/sim/owners/post.h"

#include <cmath>

#include "parley/base/math/portable.h"

namespace parley::sim {

void Post::plan(double in, Event event) {
  event.time = now_ + in;
  event.number = ++planned_;
  events_.push(std::move(event));
}

bool Post::send(Event letter) {
  if (faults_.none()) return plan(0, std::move(letter)), true;
  if (happens(faults_.drop) || happens(faults_.corrupt)) return false;
  double& last = arrival_[{letter.from, letter.to}];
  double at = std::fmax(last, now_ + exponential(faults_.delay));
  if (happens(faults_.reorder)) at = now_;  // It overtakes what is on the way.
  last = std::fmax(last, at);
  if (happens(faults_.duplicate)) plan(at - now_, letter);
  plan(at - now_, std::move(letter));
  return true;
}

std::optional<Post::Event> Post::next() {
  if (events_.empty()) return std::nullopt;
  Event event = std::move(const_cast<Event&>(events_.top()));
  events_.pop();
  now_ = event.time;
  return event;
}

double Post::exponential(double mean) { return mean == 0 ? 0 : -mean * portable_log(uniform()); }

}  // namespace parley::sim
