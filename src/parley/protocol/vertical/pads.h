// Keys and pads derived from a secret. The dealer of a job draws one key; every mask and all noise
// are derived from it, so a round that is dealt again is the same, bit for bit: it reveals nothing
// new, and nothing is paid again.
#pragma once

#include "parley/base/crypto/signature.h"
#include "parley/protocol/secagg/secrets.h"

namespace parley::protocol {

/// Keyed BLAKE2b: to whoever does not know the key, independent of all else.
Secret32 derived(const Secret32& key, const TupleBytes& what);

/// Words that follow from a key: AES-256-CTR, a new key for every block.
class KeyedEntropy final : public Entropy {
 public:
  explicit KeyedEntropy(const Secret32& key) : Entropy(block_), key_(key) {}

 private:
  void refill() override;
  Block block_{};
  Secret32 key_;
  uint64_t blocks_ = 0;
};

/// What only this owner can make, from its key for receipts: Ed25519 signs alike every time, and
/// this text is never sent signed.
Secret32 own_secret(const Signature& signature);
Bytes own_secret_text(const Hash& charter);

}  // namespace parley::protocol
