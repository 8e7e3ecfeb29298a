#include "parley/protocol/vertical/pads.h"

#include <sodium.h>

namespace parley::protocol {

Secret32 derived(const Secret32& key, const TupleBytes& what) {
  Secret32 out;
  check(crypto_generichash(out.data(), out.size(), what.bytes().data(), what.bytes().size(),
                           key.data(), key.size()) == 0);
  return out;
}

void KeyedEntropy::refill() {
  for (uint64_t& word : block_.words) word = 0;
  add_mask(derived(key_, TupleBytes().add("block").add(blocks_++)), block_.words);
  block_.left = kBlock;
}

Bytes own_secret_text(const Hash& charter) {
  return TupleBytes().add("parley sharing: a secret of this owner").add(charter).bytes();
}

Secret32 own_secret(const Signature& signature) { return sha256(signature); }

}  // namespace parley::protocol
