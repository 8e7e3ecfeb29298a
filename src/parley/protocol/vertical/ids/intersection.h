// Which ids do two owners both have? Private set intersection by two secret scalars a, b
// (Diffie-Hellman on ristretto255; Meadows 1986, Huberman, Franklin, Hogg 1999): the token of an id
// is a b Hg(id). Nobody can make it alone. So nobody can test a guessed id against what was sent,
// not even somebody who knows every id but one.
//
// Both owners, each in letters of its own:
//   1  a hash of its list, so that nobody can choose a list by the other's
//   2  its list: a Hg(id) of every id, in a random order
//   3  the other's list, every element times a, in the same order
//   4  a hash of all tokens that are on both lists
// Both end with the records of these tokens, in the order of the tokens.
//
// Each learns how long the other's list is, and which of its own ids are on it. An owner can put
// ids that it guesses on its list: the charter's list_max bounds how many. It can return elements
// of other ids than were asked; then records are paired wrongly, which harms the model, and no
// record counts twice, since tokens must differ.
//
// Scalar and order are derived from a key of the owner: a session that begins anew repeats the same
// letters.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/base/result.h"
#include "parley/learn/vertical/alignment.h"
#include "parley/protocol/vertical/ot/group.h"

namespace parley::protocol::ot {

class Intersection {
 public:
  /// `ids` are each once here; `place` is this owner's in the roster of two.
  Intersection(const Hash& charter, uint32_t place, std::span<const learn::IdDigest> ids,
               const Secret32& key);

  Bytes commitment() const;
  Result<void> take_commitment(ByteView letter);
  /// The other's, once it is here.
  const Hash& promised() const { return promised_; }

  Bytes list() const;
  /// Gives letter 3. An error for a list of no ids or more than `most`, that is not the promised
  /// one, has an element twice, or one that is none.
  Result<Bytes> take_list(ByteView letter, size_t most);
  size_t other_size() const { return others_.size(); }

  /// An error for another number of elements, one that is none, or one twice.
  Result<void> take_answer(ByteView letter);
  /// Places among `ids` of those that both have, in the order of their tokens.
  const std::vector<uint64_t>& common() const { return common_; }
  Hash hash_of_common() const;
  /// An error where the other has found other tokens.
  Result<void> take_hash(ByteView letter) const;

 private:
  Hash charter_;
  uint32_t place_;
  Scalar scalar_;
  std::vector<uint64_t> order_{};  // of ids on the list
  std::vector<Element> sent_{};
  Hash promised_{};
  std::vector<Element> others_{};  // tokens of the other's ids
  std::vector<uint64_t> common_{};
  std::vector<Element> tokens_{};  // of common_
};

}  // namespace parley::protocol::ot
