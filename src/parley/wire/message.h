// What may leave the process: Public and Released messages, and refusals that state public facts.
// Adding an encoder here is a privacy decision. The bytes are those of proto/parley.proto.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/privacy/flow.h"

namespace parley::wire {

/// On every message. A wrong charter, or a sequence that is not the last one + 1, ends the stream.
struct Envelope {
  Hash charter{};
  uint64_t sequence = 0;
};

// What is sent.
struct Query {
  uint32_t round = 0;
  privacy::Public theta;
};
struct Finished {
  Hash model{};
};
struct Answer {
  privacy::Released released;
};
struct Refusal {
  Code code;
  std::string text;
};

Bytes encode(const Envelope& envelope, const Query& query);
Bytes encode(const Envelope& envelope, const Finished& finished);
Bytes encode(const Envelope& envelope, const Answer& answer);
Bytes encode(const Envelope& envelope, const Refusal& refusal);

template <class T>
concept Sendable = requires(const Envelope& envelope, const T& message) {
  { encode(envelope, message) } -> std::same_as<Bytes>;
};

// What is received: plain values, which the receiver does not trust.
struct ReceivedQuery {
  uint32_t round = 0;
  std::vector<double> theta;
};
struct ReceivedAnswer {
  uint32_t round = 0;
  std::vector<int64_t> values;
  privacy::Receipt receipt;
};
struct ToOwner {
  Envelope envelope;
  std::variant<ReceivedQuery, Finished> body;
};
struct FromOwner {
  Envelope envelope;
  std::variant<ReceivedAnswer, Refusal> body;
};

/// Longer messages are refused before they are parsed.
inline constexpr size_t kMessageBytesMax = 4 << 20;

Result<ToOwner> decode_to_owner(ByteView bytes);
Result<FromOwner> decode_from_owner(ByteView bytes);

}  // namespace parley::wire
