// What an owner without a dealer keeps on its disk: how the test of rows stands, and once it has
// passed, what is needed to open the products, sealed under the owner's secret.
//
// The order of writing is the rule after a crash. Before the test nothing is kept: all is made
// anew. "begun" is on disk before anything of the test leaves; found there later, the test counts
// as failed, for whoever falls silent in it has perhaps seen its verdict. The opening is on disk
// before "passed", and that before the last letter of the test leaves.
#pragma once

#include "parley/protocol/vertical/owner.h"
#include "parley/protocol/vertical/pair/opening.h"

namespace parley::protocol {

/// The file that says which list of ids the peer promised.
inline constexpr const char* kIdsPromised = "ids.txt";
/// The file that says how the test of rows stands, for people and for later jobs with this peer.
inline constexpr const char* kRowsTest = "rows-test.txt";
/// Its first word while the test is not known to have passed; then the peer follows, by its key, or
/// by its name where it has none.
inline constexpr std::string_view kTestBegun = "begun";
std::string known_as(const VerticalPeer& peer);

class PairFiles {
 public:
  PairFiles(KeepFile keep, KeptFile kept, const Secret32& secret, const Hash& charter)
      : keep_(std::move(keep)), kept_(std::move(kept)), secret_(secret), charter_(charter) {}

  struct Found {
    std::optional<PairOpening> opening{};
    std::optional<Opened> opened{};
    bool test_begun = false;  // and not passed
  };
  /// What an earlier process has left.
  Result<Found> find() const;

  /// Of the peer's list of ids, before this owner's is shown: an error if it promised another one
  /// before, with which it could try other ids.
  Result<void> keep_promise(const VerticalPeer& peer, const Hash& list) const;
  Result<void> begin_test(const VerticalPeer& peer, const Hash& session) const;
  Result<void> pass_test(const VerticalPeer& peer, const PairOpening& opening) const;
  Result<void> keep_opened(const PairOpening& opening, const Opened& opened) const;
  /// The job has ended.
  Result<void> forget() const;

 private:
  Secret32 key_for(const Hash& session, std::string_view what) const;
  Result<void> keep(const PairOpening& opening, const std::optional<Opened>& opened) const;

  KeepFile keep_;
  KeptFile kept_;
  Secret32 secret_;
  Hash charter_;
};

}  // namespace parley::protocol
