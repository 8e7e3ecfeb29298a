#include "parley/net/transport/sparse_log.h"

namespace parley::net {
namespace {

constexpr std::chrono::seconds kEvery{1};

}  // namespace

void SparseLog::say(const Held& held) {
  const std::string count = std::to_string(held.more);
  log_(held.last + (held.more == 0 ? "" : ", and so " + count + " in all since the last line"));
}

void SparseLog::say(const std::string& about, const std::string& line, Moment now) {
  const std::lock_guard lock(mutex_);
  const bool known = held_.contains(about) || held_.size() < kinds_max_;
  const auto [place, first] = held_.try_emplace(known ? about : "others");
  Held& held = place->second;
  held.last = line;
  if (!first) {
    ++held.more;
    return;
  }
  held.said = now;
  say(held);
}

void SparseLog::tell(Moment now) {
  const std::lock_guard lock(mutex_);
  for (auto place = held_.begin(); place != held_.end();) {
    Held& held = place->second;
    if (now - held.said < kEvery) {
      ++place;
    } else if (held.more == 0) {
      place = held_.erase(place);
    } else {
      say(held);
      held.said = now, held.more = 0;
      ++place;
    }
  }
}

}  // namespace parley::net
