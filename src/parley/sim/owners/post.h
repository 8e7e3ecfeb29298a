// The post of a simulation: events in the order of their time, and messages that may be lost,
// delayed, doubled, damaged or overtaken on the way. All of it replays from a seed.
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/sim/seeded_entropy.h"
#include "parley/sim/world.h"

namespace parley::sim {

class Post {
 public:
  /// Something that happens to `to` at a time. Of two at the same time the first that was planned
  /// is first.
  struct Event {
    double time = 0;
    uint64_t number = 0;
    int kind = 0;
    size_t to = 0, from = 0;
    uint32_t stream = 0;
    Bytes message{};

    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  Post(const Faults& faults, uint64_t seed, std::string_view label, uint64_t run)
      : faults_(faults), luck_(seed, label, run) {}

  /// `event` happens after so much time.
  void plan(double in, Event event);
  /// Sends a message; false if it will never arrive, because it is lost or arrives damaged.
  bool send(Event letter);
  std::optional<Event> next();

  bool happens(double probability) { return probability > 0 && uniform() < probability; }
  double exponential(double mean);
  double now() const { return now_; }

 private:
  double uniform() { return (static_cast<double>(luck_.word() >> 12) + .5) * 0x1p-52; }

  Faults faults_;
  SeededEntropy luck_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  std::map<std::pair<size_t, size_t>, double>
      arrival_{};  // of the last message from one to another
  uint64_t planned_ = 0;
  double now_ = 0;
};

}  // namespace parley::sim
