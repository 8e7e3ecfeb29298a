#include "parley/protocol/vertical/ids/joint_tokens.h"

#include <algorithm>

#include "parley/protocol/vertical/ids/same_exponent.h"
#include "parley/protocol/vertical/ot/transfers.h"

namespace parley::protocol::ot {
namespace {

learn::IdDigest digest_of(const Hash& charter, const Element& token) {
  learn::IdDigest digest;
  const ByteView rest[] = {token};
  session_hash({.session = charter}, "token", {}, rest, digest);
  return digest;
}

/// A hashed point, and so what secret scalars make of it, is neutral with probability 2^-252.
Element times(const Scalar& scalar, const Element& point) {
  const auto product = scalar.times(point);
  check(bool(product));
  return *product;
}

}  // namespace

JointTokens::JointTokens(const Hash& charter, uint32_t place, size_t owners,
                         std::span<const learn::IdDigest> ids, const Secret32& key)
    : charter_(charter),
      place_(place),
      owners_(owners),
      key_(key),
      scalar_(scalar_for(key, charter, "scalar")),
      blind_(scalar_for(key, charter, "blind")) {
  KeyedEntropy entropy = entropy_for(key, charter, "order");
  order_ = shuffled(ids.size(), entropy);
  sent_.reserve(ids.size());
  for (const uint64_t i : order_) {
    sent_.push_back(times(blind_, point_of(charter, ids[i])));
    sums_.push_back(times(scalar_, sent_.back()));
  }
}

Direction JointTokens::proof_of(size_t prover, size_t to) const {
  return {charter_, static_cast<uint32_t>(to), static_cast<uint32_t>(prover)};
}

Bytes JointTokens::promise() const {
  const Promise promise{promise_of(charter_, place_, list()), scalar_.of_generator()};
  return letter_of(std::span(&promise, 1));
}

Result<void> JointTokens::take_promise(size_t from, ByteView letter) {
  Promise promise;
  TRY(read_letter(letter, std::span(&promise, 1), "a promise of ids"));
  if (!promised_.emplace(from, promise).second) return wrong_list("that was promised twice");
  return {};
}

Result<Bytes> JointTokens::take_list(size_t from, ByteView letter, size_t most) {
  if (!promised_.contains(from) || !listed_.insert(from).second)
    return wrong_list("that is not due");
  const auto list = TRY(
      promised_list(letter, most, charter_, static_cast<uint32_t>(from), promised_.at(from).list));
  std::vector<Element> made;
  for (const Element& element : list) {
    const auto product = scalar_.times(element);
    if (!product) return wrong_list("with bytes that are no element of the group");
    made.push_back(*product);
  }
  // What hides the secret exponent in a proof follows from the list: never the same for another.
  KeyedEntropy entropy(derived(
      key_,
      TupleBytes().add("proof").add(charter_).add(uint64_t{from}).add(promised_.at(from).list)));
  const ExponentProof proof =
      TRY(prove_exponent(proof_of(place_, from), scalar_, {list, made}, entropy));
  Bytes answer = bytes_of(made);
  const Bytes end = letter_of(std::span(&proof, 1));
  answer.insert(answer.end(), end.begin(), end.end());
  return answer;
}

Result<void> JointTokens::take_answer(size_t from, ByteView letter) {
  if (!promised_.contains(from) || !answered_.insert(from).second)
    return wrong_list("that came back twice");
  const size_t size = sent_.size() * sizeof(Element);
  if (letter.size() != size + sizeof(ExponentProof))
    return wrong_list("that came back with another length");
  const std::vector<Element> made = elements_in(letter.first(size));
  ExponentProof proof;
  TRY(read_letter(letter.subspan(size), std::span(&proof, 1), "a proof"));
  TRY(check_exponent(proof_of(from, place_), promised_.at(from).exponent, {sent_, made}, proof));
  for (size_t i = 0; i < made.size(); ++i) sums_[i] = TRY(sum(sums_[i], made[i]));
  return {};
}

Result<std::vector<learn::IdDigest>> JointTokens::tokens() {
  check(all_answered());
  tokens_.clear();
  const Scalar clear = blind_.inverse();
  for (size_t i = 0; i < sums_.size(); ++i)
    if (!tokens_.emplace(digest_of(charter_, TRY(clear.times(sums_[i]))), order_[i]).second)
      return wrong_list("with two ids of one token");
  std::vector<learn::IdDigest> digests;
  for (const auto& [digest, place] : tokens_) digests.push_back(digest);
  return digests;
}

Result<void> JointTokens::take_common(std::span<const learn::IdDigest> digests) {
  if (tokens_.empty() || !digests_.empty()) return wrong_list("in common that is not due");
  for (const learn::IdDigest& digest : digests) {
    const auto own = tokens_.find(digest);
    if (own == tokens_.end() || (!digests_.empty() && digest <= digests_.back()))
      return Error{Code::kIntegrity, "the learner names ids in common that are not this owner's",
                   "Do not go on, and ask who runs the learner."};
    digests_.push_back(digest);
    common_.push_back(own->second);
  }
  return {};
}

Hash JointTokens::hash_of_common() const {
  Hash hash;
  const ByteView rest[] = {{reinterpret_cast<const uint8_t*>(digests_.data()),
                            digests_.size() * sizeof(learn::IdDigest)}};
  session_hash({.session = charter_}, "common ids", {}, rest, hash);
  return hash;
}

}  // namespace parley::protocol::ot
