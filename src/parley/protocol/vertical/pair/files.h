// What an owner without a dealer keeps on its disk: the state of the test of rows with each other
// owner and, once that has passed, what is needed to open the products, sealed under the owner's
// secret.
//
// Recovery after a crash depends on the order of writing. Before the test of a pair nothing of it
// is stored: all is made anew. "begun" is on disk before any message of the test is sent. If only
// "begun" is found later, the test counts as failed, because an owner that falls silent during the
// test may have seen its verdict. The share is on disk before "passed", and "passed" before the
// last letter of the test is sent. A pair that has passed is never tested again in its job,
// whatever becomes of the others, because each test could reveal one bit.
//
// Rule gradients keeps two files. The strings of all rounds are written once a pair, each round's
// sealed under a key of its own, before the state that has the first of these keys. The state is
// written twice a round, before letters 3 leave and when the gradient is here; with the next key it
// leaves those of earlier rounds behind.
#pragma once

#include <set>

#include "parley/protocol/vertical/owner.h"
#include "parley/protocol/vertical/pair/opening.h"
#include "parley/protocol/vertical/pair/rounds.h"

namespace parley::protocol {

/// The file that says which list of ids each other owner promised.
inline constexpr const char* kIdsPromised = "ids.txt";
/// The file that says how tests of rows stand, for people and for later jobs with these owners.
inline constexpr const char* kRowsTest = "rows-test.txt";
/// Another owner in these files: its key, or its name where it has none.
std::string known_as(const VerticalPeer& peer);
/// Does that file say that a test with this owner was begun and not passed?
bool says_begun(const std::string& rows_test, const std::string& known);

class PairFiles {
 public:
  PairFiles(KeepFile keep, KeptFile kept, const Secret32& secret, const Hash& charter,
            std::vector<VerticalPeer> owners)
      : keep_(std::move(keep)),
        kept_(std::move(kept)),
        secret_(secret),
        charter_(charter),
        owners_(std::move(owners)) {}

  struct Found {
    std::optional<Opening> opening{};
    std::optional<Opened> opened{};
    std::optional<Rounds> rounds{};  // without strings
    std::set<size_t> begun{};        // tests with these owners, and not passed
  };
  /// What an earlier process has left.
  Result<Found> find() const;

  /// Of another's list of ids, before this owner's answer to it: an error if it promised another
  /// one before, with which it could try other ids.
  Result<void> keep_promise(size_t owner, const Hash& list) const;
  Result<void> begin_test(size_t owner, const Hash& session) const;
  /// `opening` has the share of this pair.
  Result<void> pass_test(size_t owner, const Opening& opening) const;
  Result<void> pass_test(size_t owner, const Rounds& rounds) const;
  Result<void> keep_rounds(const Rounds& rounds) const;
  /// Puts the strings of rounds to come back.
  Result<void> find_pools(Rounds& rounds, const plan::VerticalTerms& terms) const;
  Result<void> keep_opened(const Opening& opening, const Opened& opened) const;
  /// The job has ended.
  Result<void> forget() const;

 private:
  Hash name_of(ByteView state) const;
  Result<Rounds> rounds_in(const Hash& name, ByteView box) const;
  Secret32 key_for(const Hash& name, std::string_view what) const;
  Result<void> keep(const Opening& opening, const std::optional<Opened>& opened) const;
  Result<void> write_test(size_t owner, const char* stands, const Hash& session) const;
  Result<std::string> read(const char* name) const;

  KeepFile keep_;
  KeptFile kept_;
  Secret32 secret_;
  Hash charter_;
  std::vector<VerticalPeer> owners_;
};

}  // namespace parley::protocol
