// The event queue of a simulation, in the order of simulated time, and messages that may be lost,
// delayed, duplicated, damaged or reordered. All of it replays from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::sim {

/// What may go wrong, each with its probability per message. Times are in units of the clocks, in
/// which an owner of rate 1 ticks once on average.
struct Faults {
  double drop = 0;       // a message is lost; at the deadline its stream is given up
  double duplicate = 0;  // arrives twice
  double corrupt = 0;    // arrives damaged, which TLS finds: the stream ends
  double crash = 0;      // the owner's process dies after a message, before its reply is sent
  double vanish = 0;     // the part of crashes from which the owner never returns
  double learner = 0;    // the learner's process dies after a message, and resumes from its journal
  double delay = 0;      // mean time on the way, exponential
  double reorder = 0;    // overtakes what is on the way
  double deadline = 3;   // the learner waits so long for an answer
  double absence = 2;    // mean time until an owner whose stream broke is back
  std::set<size_t> down{};  // owners that never come; in secure sums after they have signed

  bool none() const {
    return drop + duplicate + corrupt + crash + learner + delay + reorder == 0 && down.empty();
  }
};

/// Something that happens to `to` at a time. Of two at the same time the first that was planned is
/// first.
struct Event {
  double time = 0;
  uint64_t number = 0;
  int kind = 0;  // what it is, as its simulation counts them
  size_t to = 0, from = 0;
  uint64_t stream = 0;  // on which a message travels
  Bytes message{};

  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

class EventQueue {
 public:
  /// The draws of the faults follow from seed, label and run.
  EventQueue(const Faults& faults, uint64_t seed, std::string_view label, uint64_t run)
      : faults_(faults), fault_rng_(seed, label, run) {}

  /// `event` happens after so much time.
  void plan(double in, Event event);

  enum class Sent { kOnItsWay, kLost, kDamaged };
  /// Sends a message. Messages from one to another arrive in their order, unless faults reorder
  /// them.
  Sent send(Event message);
  /// A new stream between the two, whose messages wait for none of an older one.
  void reopen(size_t one, size_t other);

  /// The next event, whose time it is now.
  std::optional<Event> next();

  bool happens(double probability) { return probability > 0 && uniform() < probability; }
  double exponential(double mean);
  double now() const { return now_; }

 private:
  double uniform() { return (static_cast<double>(fault_rng_.word() >> 12) + .5) * 0x1p-52; }

  const Faults& faults_;
  SeededEntropy fault_rng_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  std::map<std::pair<size_t, size_t>, double> arrival_{};  // of the last message between two
  uint64_t planned_ = 0;
  double now_ = 0;
};

}  // namespace parley::sim
