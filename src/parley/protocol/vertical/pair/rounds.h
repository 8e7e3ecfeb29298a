// Rule gradients without a dealer: what an owner keeps of its tested sessions with all others until
// the last round, and its letters in a round. Every owner m gets
//
//     g[m] = sum over owners k of C[m,k] n[k], less kappa times the products with the label
//
// with noise of all owners, its own included. C[m,m] it has; of C[m,k] = P - Q it holds P and k
// holds Q, and three letters make their product with n[k], which stays k's
// (cells/block_product.h):
//
//     1  k -> m   bits of n[k], each under a random bit that k alone knows
//     2  m -> k   a word for each of these bits and each of m's columns
//     3  k -> m   C[m,k] n[k] less m's part of it, with k's noise and, among three and more owners,
//                 masks that cancel in the sum of what all send to m. 7 bytes a word
//
// Letter 1 tells nothing that is charged for: n follows from noisy sums, and is under a one-time
// pad besides. Letter 2 is masked by strings that k does not have. Letter 3 is the release.
//
// A round's letters follow from what is kept and from what was heard; noise and masks follow from
// keys. So an interrupted round is repeated bit for bit. Strings of a round are used for one letter
// 1 only: another one, answered under the same strings, would show P. Which letters 1 a round was
// paid for is in the ledger's row; that no other letter 2 is taken, in this owner's file.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "parley/gate/columns_gate.h"
#include "parley/protocol/vertical/cells/pair_setup.h"
#include "parley/protocol/vertical/exchange.h"

namespace parley::protocol {

class Rounds {
 public:
  /// Neither may ever be known to anyone else. `pools` is what pools on disk are sealed under.
  Rounds(const Secret32& noise, const Secret32& pools) : noise_(noise), ratchet_(pools) {}
  Rounds(Rounds&&) noexcept = default;
  Rounds& operator=(Rounds&&) noexcept = default;
  ~Rounds();

  /// Of a session with another owner, tested; once. `masks` is a key that only these two have.
  void add(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
           const Hash& session, const Secret32& masks, const plan::VerticalTerms& terms);
  /// The session with that owner; none before.
  Hash session(size_t other) const;
  size_t pairs() const { return pairs_.size(); }

  /// Rounds whose result is here, and these results.
  uint32_t done() const { return static_cast<uint32_t>(opened_.size()); }
  const std::vector<Opened>& opened() const { return opened_; }
  /// Adds the next result. Strings of the round before are wiped: those of this one may be asked
  /// for once more, by an owner that has not kept its result.
  void conclude(Opened opened);
  /// What the rounds that are done were paid for.
  const std::vector<Hash>& paid() const { return paid_; }
  void note_paid(uint32_t round, const Hash& commitment);
  /// Remembers a letter of this round, or compares it with the one that was remembered: false for
  /// another one.
  bool hear(uint32_t round, size_t from, uint8_t letter, ByteView text);

  /// Letter 1: the bits of n, this owner's coefficients.
  Bytes bits(const gate::ColumnsGate& gate, size_t to, uint32_t round,
             std::span<const int64_t> n) const;
  /// Letter 2, for the owner that wrote letter 1, and what is to be taken off its letter 3.
  struct Answer {
    Bytes letter;
    WipedVector<uint64_t> off;
  };
  Result<Answer> words(const gate::ColumnsGate& gate, size_t to, uint32_t round,
                       ByteView letter1) const;
  /// Letter 3. The same for the same letter 2.
  Result<Bytes> sum(const gate::ColumnsGate& gate, size_t to, uint32_t round,
                    std::span<const int64_t> n, ByteView letter2) const;
  /// This owner's noisy gradient, from its columns and everyone's letter 3, by place.
  struct Heard {
    Bytes letter3;
    WipedVector<uint64_t> off;
  };
  Result<Opened> gradient(const gate::ColumnsGate& gate, uint32_t round, std::span<const int64_t> n,
                          const std::map<size_t, Heard>& heard) const;
  /// Names, to nobody but this owner, all that a round's letters follow from.
  void name_of_round(TupleBytes& tuple, uint32_t round, std::span<const int64_t> n) const;

  /// For this owner's disk. The pools are written when a session is added, each round's under a key
  /// of its own; keys follow from each other in one direction, so that dropping a key wipes what
  /// lies under it. The state, which holds the next key, is written in every round.
  Bytes state() const;
  std::vector<Bytes> sealed_pool(size_t other, const Hash& charter) const;
  static std::optional<Rounds> from_state(ByteView state);
  /// Of a pool on disk, what rounds to come need; false for another one.
  bool unseal_pool(size_t other, std::span<const Bytes> pool, const Hash& charter,
                   const plan::VerticalTerms& terms);

 private:
  struct Strings {                 // of one round
    WipedVector<uint8_t> choices;  // random, of this owner's bits
    ot::Blocks own;                // the chosen ones
    ot::BlockPairs others;         // both, of the other's bits
  };
  struct Pair {
    Hash session{};
    Secret32 masks{};
    ot::Words share{};  // of C[own, other]: P where this owner was m, or -Q', modulo 2^56
    std::map<uint32_t, Strings> strings{};
  };

  const Strings& strings_of(size_t other, uint32_t round) const;
  Secret32 key_of(uint32_t round) const;
  void drop_before(uint32_t round);
  /// This owner's noise for its own numbers or another's, and its masks for the latter.
  void add_noise(const gate::ColumnsGate& gate, uint32_t round, size_t block,
                 std::span<uint64_t> words) const;
  void add_masks(size_t owner, uint32_t round, size_t block, std::span<uint64_t> words) const;

  std::map<size_t, Pair> pairs_{};
  Secret32 noise_{}, ratchet_{};
  uint32_t first_ = 1;  // the round whose pools are sealed under ratchet_
  std::vector<Opened> opened_{};
  std::vector<Hash> paid_{};
  std::map<std::pair<uint32_t, std::pair<size_t, uint8_t>>, Hash> heard_{};
};

}  // namespace parley::protocol
