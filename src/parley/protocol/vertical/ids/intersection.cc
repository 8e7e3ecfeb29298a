#include "parley/protocol/vertical/ids/intersection.h"

#include <algorithm>
#include <numeric>

#include "parley/protocol/vertical/ids/id_lists.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

Intersection::Intersection(const Hash& charter, uint32_t place,
                           std::span<const learn::IdDigest> ids, const Secret32& key)
    : charter_(charter), place_(place), scalar_(scalar_for(key, charter, "scalar")) {
  KeyedEntropy entropy = entropy_for(key, charter, "order");
  order_ = shuffled(ids.size(), entropy);
  sent_.reserve(ids.size());
  for (const uint64_t i : order_) {
    const auto hidden = scalar_.times(point_of(charter, ids[i]));
    check(bool(hidden));  // A hashed point is neutral with probability 2^-252.
    sent_.push_back(*hidden);
  }
}

Bytes Intersection::commitment() const {
  const Hash hash = promise_of(charter_, place_, list());
  return Bytes(hash.begin(), hash.end());
}

Result<void> Intersection::take_commitment(ByteView letter) {
  if (letter.size() != promised_.size()) return wrong_list("with a promise of another length");
  std::copy(letter.begin(), letter.end(), promised_.begin());
  return {};
}

Bytes Intersection::list() const { return bytes_of(sent_); }

Result<Bytes> Intersection::take_list(ByteView letter, size_t most) {
  const auto theirs = TRY(promised_list(letter, most, charter_, 1 - place_, promised_));
  for (const Element& element : theirs) {
    const auto token = scalar_.times(element);
    if (!token) return wrong_list("with bytes that are no element of the group");
    others_.push_back(*token);
  }
  return bytes_of(others_);
}

Result<void> Intersection::take_answer(ByteView letter) {
  const std::vector<Element> tokens = elements_in(letter);
  if (tokens.size() != sent_.size()) return wrong_list("that came back with another length");
  if (has_one_twice(tokens)) return wrong_list("that came back with an id twice");
  if (!std::all_of(tokens.begin(), tokens.end(), is_element))
    return wrong_list("that came back with bytes that are no element of the group");
  std::vector<Element> theirs = others_;
  std::sort(theirs.begin(), theirs.end());
  std::vector<uint64_t> sorted(tokens.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint64_t a, uint64_t b) { return tokens[a] < tokens[b]; });
  for (const uint64_t i : sorted)
    if (std::binary_search(theirs.begin(), theirs.end(), tokens[i])) {
      common_.push_back(order_[i]);
      tokens_.push_back(tokens[i]);
    }
  return {};
}

Hash Intersection::hash_of_common() const {
  Hash hash;
  const Bytes all = bytes_of(tokens_);
  const ByteView rest[] = {all};
  session_hash({.session = charter_}, "common ids", {}, rest, hash);
  return hash;
}

Result<void> Intersection::take_hash(ByteView letter) const {
  if (std::ranges::equal(letter, hash_of_common())) return {};
  return Error{Code::kIntegrity, "the two owners have found different records in common",
               "One of the two has not kept to the protocol: ask there."};
}

}  // namespace parley::protocol::ot
