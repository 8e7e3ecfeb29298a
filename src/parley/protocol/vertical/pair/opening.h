// What an owner keeps of its tested sessions with all others until the products are opened: its
// share of C = D[m]' D[k] of each pair, and the key of its noise. A share is sent only with this
// noise added, and stored only sealed.
//
// Both owners of a pair add noise of full variance to their C, drawn from keys of their own.
// However many owners remove the noise that they know, the noise of each remaining owner is all
// that it is charged for. An owner releases the moments of its own columns with its own noise
// alone: only it could remove that noise, and it has the columns.
//
// All letters go to all owners. An owner outside the pair sees its two letters, each masked by a
// share that is uniform to it, and so learns no more than their sum.
#pragma once

#include <map>
#include <vector>

#include "parley/gate/columns_gate.h"
#include "parley/protocol/vertical/cells/pair_setup.h"
#include "parley/protocol/vertical/exchange.h"

namespace parley::protocol {

/// Two owners, by their places in the roster.
struct PairPlaces {
  size_t first = 0, second = 1;
};
/// Which of the two is m, and how many transfers are made at once: from public numbers.
ot::PairPlan pair_plan(const plan::VerticalTerms& terms, PairPlaces pair, const Hash& session);
ot::Role role_in(const ot::PairPlan& plan, size_t owner);

class Opening {
 public:
  /// `noise` must never be known to anyone else.
  explicit Opening(const Secret32& noise) : noise_(noise) {}
  Opening(Opening&&) noexcept = default;
  Opening& operator=(Opening&&) noexcept = default;
  ~Opening();

  /// Of a session with another owner, tested; once.
  void add(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
           const Hash& session);
  /// The session with that owner; none before.
  Hash session(size_t other) const;
  size_t pairs() const { return shares_.size(); }
  /// Of all sessions: another one whenever a session is added.
  Hash name() const;

  /// What leaves once all pairs are there, always the same: the moments of this owner's columns,
  /// and its shares in the order of the others' places, each with its noise. Paid for before it
  /// does.
  Words<Word> letter(const gate::ColumnsGate& gate) const;

  /// For this owner's disk. A key for each name().
  Bytes sealed(const Secret32& key, const Hash& charter) const;
  static Result<Opening> unsealed(const Secret32& key, const Hash& charter, ByteView box);

 private:
  struct Share {
    Hash session{};
    ot::Words words{};  // P, or -Q, modulo 2^56
  };
  std::map<size_t, Share> shares_{};  // with each other owner
  Secret32 noise_{};
};

/// How many words a letter of this owner has.
size_t letter_size(const plan::VerticalTerms& terms, size_t owner);

/// The released moments, from everyone's letters in the order of their places; an error for one of
/// another length, or with words that 56 bits do not hold.
Result<Opened> opened_from(const plan::VerticalTerms& terms, std::span<const Words<Word>> letters);

}  // namespace parley::protocol
