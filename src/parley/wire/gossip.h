// What owners that learn without a learner tell their neighbours: where they stand, and released
// answers, their own and others', passed on as they were signed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/wire/message.h"
#include "parley/wire/transcript.h"

namespace parley::wire {

struct Gossip;
Result<Gossip> decode_gossip(ByteView bytes);

/// An answer on its way from owner to owner. Made of a Released, received, or kept in a journal:
/// nothing else can be passed on.
class Relayed {
 public:
  Relayed(std::string owner, const privacy::Released& released,
          const std::optional<Signature>& signature)
      : owner_(std::move(owner)),
        answer_{released.receipt().round, released.values(), released.receipt(), signature} {}
  /// Whoever takes it checks its signature.
  static Relayed kept(const Entry& entry) { return {entry.owner, entry.answer}; }
  const std::string& owner() const { return owner_; }
  const ReceivedAnswer& answer() const { return answer_; }

 private:
  friend Result<Gossip> decode_gossip(ByteView bytes);
  Relayed(std::string owner, ReceivedAnswer answer)
      : owner_(std::move(owner)), answer_(std::move(answer)) {}
  std::string owner_;
  ReceivedAnswer answer_;
};

/// Why an owner refused, which ends the job for all.
struct RefusedBy {
  std::string owner;
  Refusal refusal;
};

struct Gossip {
  Hash charter{};
  uint32_t round = 0;  // that the sender works on
  privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer;
  std::vector<std::string> missing{};  // some of those whose answers to it the sender lacks
  std::optional<Relayed> answer{};
  std::optional<RefusedBy> refused{};
  uint32_t hello = 0;           // kVersion where a process has begun
  uint32_t welcome = 0;         // likewise, in reply
  std::vector<Proof> proofs{};  // with it: the receiver's newest receipts that the sender holds
};

/// So many names are asked for at a time, which keeps messages short.
inline constexpr size_t kMissingMax = 1000;
inline constexpr int kGossipProofsMax = 2;  // of this job, and of an earlier one

Bytes encode(const Gossip& gossip);

}  // namespace parley::wire
