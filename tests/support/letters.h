// An input as a sequence of messages: each after one byte that says from or to whom, and its length
// in two.
#pragma once

#include "support/tiny_job.h"

namespace parley::test {

struct Letter {
  size_t owner = 0;
  ByteView message;
};

inline std::vector<Letter> letters_in(ByteView input, size_t owners = 2) {
  std::vector<Letter> letters;
  while (input.size() >= 3) {
    const size_t size = std::min<size_t>(input[1] | input[2] << 8, input.size() - 3);
    letters.push_back({size_t{input[0]} % owners, input.subspan(3, size)});
    input = input.subspan(3 + size);
  }
  return letters;
}

inline void append_letter(Bytes& out, size_t owner, ByteView message) {
  check(message.size() < 1 << 16);
  for (const size_t byte : {owner, message.size() & 255, message.size() >> 8})
    out.push_back(static_cast<uint8_t>(byte));
  out.insert(out.end(), message.begin(), message.end());
}

/// Believes unsigned receipts, so that more than refusals is tried.
inline plan::SyncPlan unsigned_plan() {
  plan::SyncPlan plan = some_plan();
  for (auto& owner : plan.owners) owner.sign_key.reset();
  return plan;
}

inline void check_model(const protocol::SyncLearner& learner) {
  check(learner.rounds_done() <= kAnswers);
  for (const double value : learner.model()) check(value >= -kBox && value <= kBox);
}

}  // namespace parley::test
