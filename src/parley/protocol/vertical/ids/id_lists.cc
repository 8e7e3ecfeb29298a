#include "parley/protocol/vertical/ids/id_lists.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

Element point_of(const Hash& charter, const learn::IdDigest& id) {
  std::array<uint8_t, 64> wide;
  const ByteView rest[] = {id};
  session_hash({.session = charter}, "id", {}, rest, wide);
  return element_from(wide);
}

KeyedEntropy entropy_for(const Secret32& key, const Hash& charter, const char* what) {
  return KeyedEntropy(derived(key, TupleBytes().add("ids").add(charter).add(what)));
}

Scalar scalar_for(const Secret32& key, const Hash& charter, const char* what) {
  KeyedEntropy entropy = entropy_for(key, charter, what);
  return Scalar::draw(entropy);
}

/// Each place but the first changes with one before it or with itself.
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

Hash promise_of(const Hash& charter, uint32_t place, ByteView list) {
  Hash hash;
  const ByteView rest[] = {list};
  session_hash({.session = charter, .sender = place}, "ids", {}, rest, hash);
  return hash;
}

Result<std::vector<Element>> promised_list(ByteView letter, size_t most, const Hash& charter,
                                           uint32_t place, const Hash& promised) {
  std::vector<Element> list = elements_in(letter);
  if (list.empty()) return wrong_list("that is none");
  if (list.size() > most)
    return Error{Code::kIntegrity,
                 "a list of " + std::to_string(list.size()) + " ids, more than the " +
                     std::to_string(most) + " that the charter allows",
                 "If so many are wanted, agree on a charter with a larger records.list_max."};
  if (promise_of(charter, place, letter) != promised)
    return wrong_list("that is not the promised one");
  if (has_one_twice(list)) return wrong_list("with an id twice");
  return list;
}

Error wrong_list(const std::string& what) {
  return {Code::kIntegrity, "a list of ids " + what,
          "The other owner has not kept to the protocol: ask there."};
}

}  // namespace parley::protocol::ot
