#include "parley/net/transport/refusals.h"

namespace parley::net {
namespace {

constexpr std::chrono::seconds kEvery{1};
constexpr size_t kReasonsMax = 64;  // A stranger may choose words that get into a reason.
const std::string kOthers = "other reasons";

}  // namespace

void Refusals::say(const std::string& reason, const Held& held) {
  const std::string count = std::to_string(held.more);
  log_("refused " + held.last + ": " + reason +
       (held.more == 0 ? "" : ", and so " + count + " in all since the last line"));
}

void Refusals::add(const std::string& who, const std::string& reason, Moment now) {
  const std::lock_guard lock(mutex_);
  const bool known = held_.contains(reason) || held_.size() < kReasonsMax;
  const auto [place, first] = held_.try_emplace(known ? reason : kOthers);
  Held& held = place->second;
  held.last = who;
  if (!first) {
    ++held.more;
    return;
  }
  held.said = now;
  say(place->first, held);
}

void Refusals::tell(Moment now) {
  const std::lock_guard lock(mutex_);
  for (auto place = held_.begin(); place != held_.end();) {
    Held& held = place->second;
    if (now - held.said < kEvery) {
      ++place;
    } else if (held.more == 0) {
      place = held_.erase(place);
    } else {
      say(place->first, held);
      held.said = now, held.more = 0;
      ++place;
    }
  }
}

}  // namespace parley::net
