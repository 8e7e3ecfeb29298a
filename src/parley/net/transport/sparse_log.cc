#include "parley/net/transport/sparse_log.h"

namespace parley::net {
namespace {

constexpr std::chrono::seconds kEvery{1};

}  // namespace

void SparseLog::say(const Held& held) {
  LogLine line = held.last;
  if (held.more > 0)
    line.text += ", and so " + std::to_string(held.more) + " in all since the last line";
  log_(line);
}

void SparseLog::say(const std::string& about, const LogLine& line, Moment now) {
  const std::lock_guard lock(mutex_);
  const bool known = held_.contains(about) || held_.size() < kinds_max_;
  const auto [place, first] = held_.try_emplace(known ? about : "others", Held{line});
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
