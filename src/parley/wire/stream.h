// One peer's side of a stream: numbers what it sends, checks what it receives.
#pragma once

#include <string>

#include "parley/wire/message.h"

namespace parley::wire {

class Stream {
 public:
  explicit Stream(const Hash& charter) : charter_(charter) {}

  template <Sendable Message>
  Bytes send(const Message& message) {
    return encode({charter_, ++sent_}, message);
  }

  Result<ToOwner> receive_to_owner(ByteView bytes) {
    ToOwner message = TRY(decode_to_owner(bytes));
    TRY(accept(message.envelope));
    return message;
  }
  Result<FromOwner> receive_from_owner(ByteView bytes) {
    FromOwner message = TRY(decode_from_owner(bytes));
    TRY(accept(message.envelope));
    return message;
  }

 private:
  Result<void> accept(const Envelope& envelope) {
    if (envelope.charter != charter_) return of_another(envelope.charter);
    if (envelope.sequence != received_ + 1)
      return Error{Code::kIntegrity,
                   "message " + std::to_string(envelope.sequence) + " arrived where " +
                       std::to_string(received_ + 1) + " was due",
                   "A message was lost, repeated or replayed: connect again."};
    ++received_;
    return {};
  }

  /// At the beginning it may be an owner that is early: at one address there is one job after the
  /// other.
  Error of_another(const Hash& charter) const {
    return {received_ == 0 ? Code::kUnavailable : Code::kIntegrity,
            "a message for charter " + to_hex(charter) + " arrived in a job of charter " +
                to_hex(charter_),
            "Both sides must run the same charter: compare `parley charter hash`. If these are two "
            "jobs, the second begins when the first has ended."};
  }

  Hash charter_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

}  // namespace parley::wire
