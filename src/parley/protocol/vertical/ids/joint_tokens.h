// Which ids do three or more owners all have? The token of an id is (a_1 + ... + a_M) Hg(id), with
// a secret scalar a_m of every owner: nobody can make it without the others (a function that they
// evaluate together; Freedman, Ishai, Pinkas, Reingold 2005, with additive shares of its key).
//
// Owner m, with a second secret scalar b that hides its list from the others (Jarecki, Liu 2010):
//   1  to each other owner: a hash of its list, and a_m G
//   2  when all promises are here: its list, b Hg(id) of every id, in a random order
//   3  back to the list's owner: each element times a_k, in the same order, with a proof that a_k
//      made all of them (same_exponent.h)
//   then it adds them up, takes b off, and has the tokens of its own ids and of no others. It gives
//      their digests to the learner, which tells everyone those that all have given
//   4  to each other owner: a hash of those, which all compare
// All end with the records of these, in the order of the digests.
//
// Without the proof an owner could exchange two elements of one owner's list and not of another's:
// a person's columns would lie in two records, and count twice.
//
// An owner learns how long the others' lists are, and which of its ids all have; not who else has
// the rest. The learner learns how the lists overlap, without ids; together with an owner, which
// others have that owner's ids. An owner can put ids that it guesses on its list: list_max bounds
// how many.
#pragma once

#include <map>
#include <set>

#include "parley/protocol/vertical/ids/id_lists.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

class JointTokens {
 public:
  /// `ids` are each once here; `place` is this owner's in the roster of `owners`.
  JointTokens(const Hash& charter, uint32_t place, size_t owners,
              std::span<const learn::IdDigest> ids, const Secret32& key);

  Bytes promise() const;
  Result<void> take_promise(size_t from, ByteView letter);
  bool all_promised() const { return promised_.size() + 1 == owners_; }
  /// Another's list, as it promised it.
  const Hash& promised(size_t from) const { return promised_.at(from).list; }

  Bytes list() const { return bytes_of(sent_); }
  /// Gives letter 3.
  Result<Bytes> take_list(size_t from, ByteView letter, size_t most);
  /// An error where it does not prove what it should.
  Result<void> take_answer(size_t from, ByteView letter);
  bool all_answered() const { return answered_.size() + 1 == owners_; }

  /// Digests of all tokens, rising. Once all have answered.
  Result<std::vector<learn::IdDigest>> tokens();
  /// Those that all owners have given, as the learner says: an error unless they rise and are among
  /// this owner's.
  Result<void> take_common(std::span<const learn::IdDigest> digests);
  /// Places among `ids` of those that all have, in the order of their digests.
  const std::vector<uint64_t>& common() const { return common_; }
  Hash hash_of_common() const;

 private:
  struct Promise {
    Hash list{};
    Element exponent{};  // a G
  };
  Direction proof_of(size_t prover, size_t to) const;

  Hash charter_;
  uint32_t place_;
  size_t owners_;
  Wiped<Secret32> key_;
  Scalar scalar_, blind_;          // a, b
  std::vector<uint64_t> order_{};  // of ids on the list
  std::vector<Element> sent_{}, sums_{};
  std::map<size_t, Promise> promised_{};
  std::set<size_t> listed_{}, answered_{};
  std::map<learn::IdDigest, uint64_t> tokens_{};  // and their ids' places
  std::vector<learn::IdDigest> digests_{};        // of those that all have
  std::vector<uint64_t> common_{};
};

}  // namespace parley::protocol::ot
