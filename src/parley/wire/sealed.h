// A letter from one owner to another that the learner passes on and cannot read: a message, in
// pieces of at most 1 MiB, under a key that only the two know. Only what was sealed, or came so,
// can be sent.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley::wire {

/// What the learner sees of it.
struct LetterHead {
  std::string from{}, to{};
  uint32_t session = 0, round = 0;
  uint32_t part = 0, parts = 1;  // counted from 0
  bool operator==(const LetterHead&) const = default;
};

inline constexpr size_t kPieceBytesMax = size_t{1} << 20;
inline constexpr uint32_t kPiecesMax = 1 << 16;

class Sealed {
 public:
  using Nonce = std::array<uint8_t, 24>;

  /// XChaCha20-Poly1305; charter and head are authenticated with it.
  static Sealed seal(const Secret32& key, const Hash& charter, LetterHead head, ByteView message,
                     Entropy& entropy);
  Result<Bytes> open(const Secret32& key, const Hash& charter) const;

  const LetterHead& head() const { return head_; }
  const Nonce& nonce() const { return nonce_; }
  const Bytes& box() const { return box_; }
  /// The learner knows who sent it, by certificate.
  void set_sender(const std::string& name) { head_.from = name; }

  /// As it came: whoever opens it will find out.
  static Result<Sealed> received(LetterHead head, ByteView nonce, ByteView box);

 private:
  LetterHead head_{};
  Nonce nonce_{};
  Bytes box_{};
};

/// The pieces of a message.
std::vector<Sealed> seal_in_pieces(const Secret32& key, const Hash& charter, LetterHead head,
                                   ByteView message, Entropy& entropy);

}  // namespace parley::wire
