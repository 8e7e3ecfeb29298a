// All transfers of one direction of a session, chunk by chunk, as letters: base transfers, then for
// every chunk columns, challenge and proof (extension.h).
#pragma once

#include <optional>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/base/result.h"
#include "parley/protocol/vertical/ot/extension.h"

namespace parley::protocol::ot {

/// The receiver's side.
class ReceivingTransfers {
 public:
  /// `choices` of all transfers, a byte each; `chunks` says how many belong to each chunk.
  ReceivingTransfers(const Direction& direction, WipedVector<uint8_t> choices,
                     std::vector<size_t> chunks, Entropy& entropy);

  Bytes offer() const;
  Result<void> take_choice(ByteView letter);
  /// Hashes of the columns of all chunks: fixes the choices before any of them is sent.
  Bytes promise() const;
  Bytes columns();
  Result<void> take_challenge(ByteView letter);
  Bytes proof();
  /// Of the chunk that was proved; the next one begins.
  Blocks strings();

 private:
  std::span<const uint8_t> choices_of(size_t chunk) const;
  Blocks packed(size_t chunk) const;

  BaseReceiver base_;
  Direction direction_;
  WipedVector<uint8_t> choices_;
  std::vector<size_t> chunks_;
  Wiped<Secret32> padding_;  // what the choices that are never used follow from
  KeyPairs keys_{};
  std::optional<ExtensionReceiver> extension_{};
  size_t chunk_ = 0;
  Block challenge_{};
};

/// The sender's side.
class SendingTransfers {
 public:
  SendingTransfers(const Direction& direction, std::vector<size_t> chunks)
      : direction_(direction), chunks_(std::move(chunks)) {}

  Result<void> take_offer(ByteView letter, Entropy& entropy);
  Bytes choice() const;
  Result<void> take_promise(ByteView letter);
  /// An error for columns of another length, or that are not those of the promise, if there was
  /// one.
  Result<void> take_columns(ByteView letter, Entropy& entropy);
  Bytes challenge() const;
  Result<void> take_proof(ByteView letter);
  BlockPairs strings();

 private:
  Direction direction_;
  std::vector<size_t> chunks_;
  BaseChoice sent_{};
  std::optional<ExtensionSender> extension_{};
  std::vector<Hash> promised_{};
  size_t chunk_ = 0;
  Block challenge_{};
};

/// Letters are arrays of plain values, one after the other. An error for another length.
Error wrong_length(const char* what);

template <class Value>
Bytes letter_of(std::span<const Value> values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(bytes, bytes + values.size_bytes());
}

template <class Value, size_t size>
Result<void> read_letter(ByteView letter, std::span<Value, size> values, const char* what) {
  if (letter.size() != values.size_bytes()) return wrong_length(what);
  if (!letter.empty()) std::memcpy(values.data(), letter.data(), letter.size());
  return {};
}

}  // namespace parley::protocol::ot
