#include "parley/wire/sealed.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include "parley/wire/answer.h"

namespace parley::wire {
namespace {

static_assert(sizeof(Sealed::Nonce) == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(sizeof(Secret32) == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
constexpr size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;

Bytes context_of(const Hash& charter, const LetterHead& head) {
  TupleBytes tuple;
  tuple.add("parley letter").add(ByteView(charter)).add(head.from).add(head.to);
  tuple.add(uint64_t{head.session}).add(uint64_t{head.round});
  return tuple.add(uint64_t{head.part}).add(uint64_t{head.parts}).bytes();
}

}  // namespace

Sealed Sealed::seal(const Secret32& key, const Hash& charter, LetterHead head, ByteView message,
                    Entropy& entropy) {
  check(message.size() <= kPieceBytesMax);
  Sealed sealed;
  sealed.head_ = std::move(head);
  for (size_t i = 0; i < sealed.nonce_.size(); i += 8) {
    uint64_t word = entropy.word();
    for (size_t k = 0; k < 8; ++k, word >>= 8) sealed.nonce_[i + k] = static_cast<uint8_t>(word);
  }
  const Bytes context = context_of(charter, sealed.head_);
  sealed.box_.resize(message.size() + kTag);
  unsigned long long size = 0;
  check(crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.box_.data(), &size, message.data(),
                                                   message.size(), context.data(), context.size(),
                                                   nullptr, sealed.nonce_.data(), key.data()) == 0);
  return sealed;
}

Result<Bytes> Sealed::open(const Secret32& key, const Hash& charter) const {
  const Bytes context = context_of(charter, head_);
  Bytes message(box_.size() - kTag);
  unsigned long long size = 0;
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(message.data(), &size, nullptr, box_.data(),
                                                 box_.size(), context.data(), context.size(),
                                                 nonce_.data(), key.data()) != 0)
    return Error{Code::kIntegrity, "a letter of " + head_.from + " was changed, or is not for us",
                 "It was changed on the way, or one of the owners runs another charter."};
  return message;
}

Result<Sealed> Sealed::received(LetterHead head, ByteView nonce, ByteView box) {
  Sealed sealed;
  if (nonce.size() != sealed.nonce_.size()) return malformed("sealed.nonce is not 24 bytes");
  if (box.size() < kTag || box.size() > kPieceBytesMax + kTag)
    return malformed("sealed.box has " + std::to_string(box.size()) + " bytes");
  if (head.parts < 1 || head.parts > kPiecesMax || head.part >= head.parts)
    return malformed("sealed.part is not one of its parts");
  sealed.head_ = std::move(head);
  std::copy(nonce.begin(), nonce.end(), sealed.nonce_.begin());
  sealed.box_.assign(box.begin(), box.end());
  return sealed;
}

std::vector<Sealed> seal_in_pieces(const Secret32& key, const Hash& charter, LetterHead head,
                                   ByteView message, Entropy& entropy) {
  const size_t parts = std::max<size_t>(1, (message.size() + kPieceBytesMax - 1) / kPieceBytesMax);
  check(parts <= kPiecesMax);
  head.parts = static_cast<uint32_t>(parts);
  std::vector<Sealed> letters;
  for (head.part = 0; head.part < head.parts; ++head.part) {
    const size_t begin = head.part * kPieceBytesMax;
    const size_t size = std::min(kPieceBytesMax, message.size() - begin);
    letters.push_back(Sealed::seal(key, charter, head, message.subspan(begin, size), entropy));
  }
  return letters;
}

}  // namespace parley::wire
