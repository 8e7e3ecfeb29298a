// Two owners of columns make shares of C = D[m]' D[k], tested, without a third party: from base
// transfers to P at m and Q at k, and to the pools of transfers that rounds will use up.
//
// m is the receiver: k's rows are sent into the trees of m's cells. For the test m sends into the
// trees of k's cells. So transfers are made in both directions:
//   forward  receiver m, sender k: m's cells, then the pool of k's blocks
//   back     receiver k, sender m: k's cells, then the pool of m's blocks
//
// Both owners go through one list of letters, which follows from public numbers, each letter
// written by one of them (steps_of). A letter out of order, of another length, or that fails a
// check ends the session, and names no record. k's choices in the back direction are fixed, by
// hashes of what it will send, before it sends a word of its rows and long before it learns the
// test's vectors.
#pragma once

#include <optional>
#include <vector>

#include "parley/base/result.h"
#include "parley/privacy/to_mask.h"
#include "parley/protocol/vertical/cells/block_product.h"
#include "parley/protocol/vertical/cells/legal_rows.h"
#include "parley/protocol/vertical/ot/equality.h"
#include "parley/protocol/vertical/ot/transfers.h"

namespace parley::protocol::ot {

/// One owner's part of a pair: public.
struct PairOwner {
  uint32_t place = 0;  // in the roster
  Cells cells;
  size_t columns = 0;  // with the label's
  size_t pool = 0;     // transfers in which this owner chooses, for all of its blocks' rounds
};

struct PairPlan {
  Hash session{};
  size_t records = 0;
  PairOwner m, k;         // receiver and sender of the rows
  size_t chunk = kChunk;  // most transfers at once

  Direction forward() const { return {session, m.place, k.place}; }
  Direction back() const { return {session, k.place, m.place}; }
};

/// The owner into whose trees it costs less to send is m; the first if both cost the same.
bool first_receives(const PairOwner& first, const PairOwner& second);

enum class Role : uint8_t { kM, kK };

enum class Letter : uint8_t {
  kOffer,      // base transfers, of the direction's receiver
  kChoice,     // of the direction's sender
  kPromise,    // k: hashes of its columns in the back direction
  kColumns,    // extension, of the direction's receiver
  kChallenge,  // of its sender
  kProof,      // of its receiver
  kWords,      // of its sender: the product
  kSeed,       // m: of the test's vectors
  kFirst,      // k: equality
  kAnswer,     // m
  kReply,      // k
  kOpened,     // m
};

struct PairStep {
  Letter letter{};
  bool back = false;
  uint32_t chunk = 0;
  Role writer{};
};

/// All letters of a session, in their order.
std::vector<PairStep> steps_of(const PairPlan& plan);

/// What an owner keeps of a session.
struct PairShare {
  Words share;                   // P or Q, modulo 2^56
  WipedVector<uint8_t> choices;  // of its own pool, random
  Blocks strings;                // the chosen ones
  BlockPairs others;             // both strings of the peer's pool
};

class PairSetup {
 public:
  /// `leaves` of this owner's cells, record by record.
  PairSetup(PairPlan plan, Role role, const privacy::ToMask<WipedVector<uint32_t>>& leaves,
            Entropy& entropy);

  /// Letters that this owner writes now: at the beginning, and after each that it takes.
  std::vector<Bytes> write();
  /// An error ends the session.
  Result<void> take(ByteView letter);

  bool is_done() const { return at_ == steps_.size(); }
  /// Has the comparison begun? A session that ends between this and its last letter counts as
  /// failed.
  bool test_begun() const { return test_begun_; }
  /// Once it is done.
  const privacy::ToMask<PairShare>& share() const { return *done_; }

 private:
  bool is_m() const { return role_ == Role::kM; }
  const PairOwner& own() const { return is_m() ? plan_.m : plan_.k; }
  const PairOwner& peer() const { return is_m() ? plan_.k : plan_.m; }
  std::span<const uint32_t> leaves_of(uint32_t chunk) const;
  bool is_pool(bool of_own, uint32_t chunk) const;

  Bytes written(const PairStep& step);
  Result<void> taken(const PairStep& step, ByteView letter);
  Bytes words(uint32_t chunk);
  Result<void> take_words(uint32_t chunk, ByteView letter);
  void keep_strings(uint32_t chunk);
  WipedVector<uint64_t> compared();
  void finish();

  PairPlan plan_;
  Role role_;
  WipedVector<uint32_t> leaves_;
  Entropy& entropy_;
  std::vector<PairStep> steps_;
  size_t at_ = 0;
  bool test_begun_ = false;

  PairShare share_{};  // while it is made
  std::optional<privacy::ToMask<PairShare>> done_{};
  ReceivingTransfers receiving_;
  SendingTransfers sending_;
  BlockPairs pairs_{};  // of the chunk whose words are to be written
  Blocks strings_{};    // of the chunk whose words are to come
  ProductSender product_out_;
  ProductReceiver product_in_;
  Hash seed_{};
  Words vectors_{};
  std::optional<EqualityFirst> first_{};
  std::optional<EqualitySecond> second_{};
  Element element_{};  // of the comparison, the next to be sent
  EqualityAnswer answer_{};
};

}  // namespace parley::protocol::ot
