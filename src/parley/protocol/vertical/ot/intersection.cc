#include "parley/protocol/vertical/ot/intersection.h"

#include <sodium.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "parley/protocol/vertical/ot/hashes.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol::ot {
namespace {

/// Both owners make the same point of an id.
Element point_of(const Hash& charter, const learn::IdDigest& id) {
  std::array<uint8_t, 64> wide;
  const ByteView rest[] = {id};
  session_hash({.session = charter}, "id", {}, rest, wide);
  return element_from(wide);
}

/// A random order: each place but the first changes with one before it or with itself.
std::vector<uint64_t> shuffled(size_t size, Entropy& entropy) {
  std::vector<uint64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = size; i > 1; --i)  // A remainder of 2^64: no order is likelier by i / 2^64.
    std::swap(order[i - 1], order[entropy.word() % i]);
  return order;
}

Bytes bytes_of(std::span<const Element> elements) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(elements.data());
  return Bytes(bytes, bytes + elements.size_bytes());
}

Error wrong_list(const std::string& what) {
  return {Code::kIntegrity, "a list of ids " + what,
          "The other owner has not kept to the protocol: ask there."};
}

/// Elements of a letter, or none if it is no list of such.
std::vector<Element> elements_in(ByteView letter) {
  std::vector<Element> elements(
      letter.size() % sizeof(Element) == 0 ? letter.size() / sizeof(Element) : 0);
  for (size_t i = 0; i < elements.size(); ++i)
    std::copy_n(letter.data() + i * sizeof(Element), sizeof(Element), elements[i].begin());
  return elements;
}

bool has_one_twice(std::vector<Element> elements) {
  std::sort(elements.begin(), elements.end());
  return std::adjacent_find(elements.begin(), elements.end()) != elements.end();
}

KeyedEntropy entropy_of(const Secret32& key, const Hash& charter, const char* what) {
  return KeyedEntropy(derived(key, TupleBytes().add("ids").add(charter).add(what)));
}

Scalar scalar_of(const Secret32& key, const Hash& charter) {
  KeyedEntropy entropy = entropy_of(key, charter, "scalar");
  return Scalar::draw(entropy);
}

}  // namespace

Intersection::Intersection(const Hash& charter, uint32_t place,
                           std::span<const learn::IdDigest> ids, const Secret32& key)
    : charter_(charter), place_(place), scalar_(scalar_of(key, charter)) {
  KeyedEntropy entropy = entropy_of(key, charter, "order");
  order_ = shuffled(ids.size(), entropy);
  sent_.reserve(ids.size());
  for (const uint64_t i : order_) {
    const auto hidden = scalar_.times(point_of(charter, ids[i]));
    check(bool(hidden));  // A hashed point is neutral with probability 2^-252.
    sent_.push_back(*hidden);
  }
}

/// The place is in it, so that nobody can promise the other's list as its own.
Hash Intersection::hash_of(uint32_t place, ByteView list) const {
  Hash hash;
  const ByteView rest[] = {list};
  session_hash({.session = charter_, .sender = place}, "ids", {}, rest, hash);
  return hash;
}

Bytes Intersection::commitment() const {
  const Hash hash = hash_of(place_, list());
  return Bytes(hash.begin(), hash.end());
}

Result<void> Intersection::take_commitment(ByteView letter) {
  if (letter.size() != promised_.size()) return wrong_list("with a promise of another length");
  std::copy(letter.begin(), letter.end(), promised_.begin());
  return {};
}

Bytes Intersection::list() const { return bytes_of(sent_); }

Result<Bytes> Intersection::take_list(ByteView letter, size_t most) {
  std::vector<Element> theirs = elements_in(letter);
  if (theirs.empty()) return wrong_list("that is none");
  if (theirs.size() > most)
    return Error{Code::kIntegrity,
                 "a list of " + std::to_string(theirs.size()) + " ids, more than the " +
                     std::to_string(most) + " that the charter allows",
                 "If so many are wanted, agree on a charter with a larger records.list_max."};
  if (hash_of(1 - place_, letter) != promised_) return wrong_list("that is not the promised one");
  if (has_one_twice(theirs)) return wrong_list("with an id twice");
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
