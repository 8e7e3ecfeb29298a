#include "parley/protocol/vertical/ot/transfers.h"

#include <sodium.h>

#include <numeric>
#include <string>
#include <utility>

#include "parley/protocol/vertical/pads.h"

namespace parley::protocol::ot {
namespace {

Hash hash_of(const ExtensionColumns& columns) {
  Hash hash;
  const auto bytes = as_bytes(columns.bits);
  check(crypto_generichash(hash.data(), hash.size(), bytes.data(), bytes.size(), nullptr, 0) == 0);
  return hash;
}

}  // namespace

Error wrong_length(const char* what) {
  return {Code::kIntegrity, std::string(what) + " of another length than the charter makes it"};
}

ReceivingTransfers::ReceivingTransfers(const Direction& direction, WipedVector<uint8_t> choices,
                                       std::vector<size_t> chunks, Entropy& entropy)
    : base_(direction, entropy),
      direction_(direction),
      choices_(std::move(choices)),
      chunks_(std::move(chunks)),
      padding_(draw_secret(entropy)) {
  check(std::accumulate(chunks_.begin(), chunks_.end(), size_t{0}) == choices_.size());
}

std::span<const uint8_t> ReceivingTransfers::choices_of(size_t chunk) const {
  const auto end = chunks_.begin() + static_cast<ptrdiff_t>(chunk);
  return std::span(choices_).subspan(std::accumulate(chunks_.begin(), end, size_t{0}),
                                     chunks_[chunk]);
}

Blocks ReceivingTransfers::packed(size_t chunk) const {
  KeyedEntropy padding(derived(padding_, TupleBytes().add("padding").add(uint64_t{chunk})));
  return packed_choices(choices_of(chunk), padding);
}

Bytes ReceivingTransfers::offer() const {
  const BaseOffer offer = base_.offer();
  return letter_of(std::span<const Element>(&offer.y, 1));
}

Result<void> ReceivingTransfers::take_choice(ByteView letter) {
  BaseChoice choice;
  TRY(read_letter(letter, std::span(choice.r), "a choice of base transfers"));
  keys_ = TRY(base_.keys(choice));
  extension_.emplace(direction_, keys_);
  return {};
}

Bytes ReceivingTransfers::promise() const {
  std::vector<Hash> hashes;
  uint64_t first = 0;
  Blocks own;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const Blocks choices = packed(chunk);
    hashes.push_back(hash_of(extension_columns(keys_, first, choices, own)));
    first += choices.size();
  }
  return letter_of(std::span<const Hash>(hashes));
}

Bytes ReceivingTransfers::columns() {
  const ExtensionColumns columns = extension_->extend(packed(chunk_), chunks_[chunk_]);
  return letter_of(std::span<const Block>(columns.bits));
}

Result<void> ReceivingTransfers::take_challenge(ByteView letter) {
  return read_letter(letter, std::span(&challenge_, 1), "a challenge");
}

Bytes ReceivingTransfers::proof() {
  const ExtensionProof proof = extension_->prove(challenge_);
  return letter_of(std::span<const ExtensionProof>(&proof, 1));
}

Blocks ReceivingTransfers::strings() {
  ++chunk_;
  return extension_->strings();
}

Result<void> SendingTransfers::take_offer(ByteView letter, Entropy& entropy) {
  BaseOffer offer;
  TRY(read_letter(letter, std::span(&offer.y, 1), "an offer of base transfers"));
  const BaseSent sent = TRY(choose_keys(direction_, offer, entropy));
  sent_ = sent.choice;
  extension_.emplace(direction_, sent.chosen);
  return {};
}

Bytes SendingTransfers::choice() const {
  return letter_of(std::span<const std::array<Element, 2>>(sent_.r));
}

Result<void> SendingTransfers::take_promise(ByteView letter) {
  promised_.resize(chunks_.size());
  return read_letter(letter, std::span(promised_), "hashes of the columns to come");
}

Result<void> SendingTransfers::take_columns(ByteView letter, Entropy& entropy) {
  ExtensionColumns columns{Blocks(kBase * extended_size(chunks_[chunk_]) / 128)};
  TRY(read_letter(letter, std::span(columns.bits), "columns of transfers"));
  if (!promised_.empty() && hash_of(columns) != promised_[chunk_])
    return Error{Code::kIntegrity, "columns of transfers that are not those promised before"};
  challenge_ = TRY(extension_->receive(chunks_[chunk_], columns, entropy));
  return {};
}

Bytes SendingTransfers::challenge() const {
  return letter_of(std::span<const Block>(&challenge_, 1));
}

Result<void> SendingTransfers::take_proof(ByteView letter) {
  ExtensionProof proof;
  TRY(read_letter(letter, std::span(&proof, 1), "a proof of transfers"));
  return extension_->verify(proof);
}

BlockPairs SendingTransfers::strings() {
  ++chunk_;
  return extension_->strings();
}

}  // namespace parley::protocol::ot
