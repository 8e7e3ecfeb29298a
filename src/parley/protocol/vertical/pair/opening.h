// What an owner keeps of a tested session of two owners, until the products are opened: its share
// of C = D[m]' D[k] and the key of its noise. Nothing of the share leaves but with this noise, and
// to disk it goes sealed.
//
// Both owners add noise of full variance to C, drawn from keys of their own: whoever takes his own
// off still misses the other's. Moments of its own columns an owner releases with noise of its own
// alone: only it could take that off, and it has the columns.
#pragma once

#include "parley/gate/columns_gate.h"
#include "parley/protocol/vertical/cells/pair_setup.h"
#include "parley/protocol/vertical/exchange.h"

namespace parley::protocol {

/// Which of two owners is m, and how many transfers are made at once: from public numbers.
ot::PairPlan pair_plan(const plan::VerticalTerms& terms, const Hash& session);
ot::Role role_in(const ot::PairPlan& plan, size_t owner);

class PairOpening {
 public:
  /// Of this session. `noise` must never be known to anyone else.
  PairOpening(const privacy::ToMask<ot::PairShare>& share, ot::Role role, const Hash& session,
              const Secret32& noise);
  PairOpening(PairOpening&&) noexcept = default;
  PairOpening& operator=(PairOpening&&) noexcept = default;
  ~PairOpening();

  const Hash& session() const { return session_; }

  /// What leaves, always the same: the moments of this owner's columns, and its share, each with
  /// its noise. Paid for before it does.
  Words<Word> letter(const gate::ColumnsGate& gate) const;

  /// For this owner's disk.
  Bytes sealed(const Secret32& key, const Hash& charter) const;
  static Result<PairOpening> unsealed(const Secret32& key, const Hash& charter, ByteView box);

 private:
  PairOpening() = default;

  ot::Words share_{};  // P, or -Q, modulo 2^56
  Hash session_{};
  Secret32 noise_{};
};

/// How many words a letter of this owner has.
size_t letter_size(const plan::VerticalTerms& terms, size_t owner);

/// The released moments, from both letters; an error for one of another length, or with words that
/// 56 bits do not hold.
Result<Opened> opened_from(const plan::VerticalTerms& terms, std::span<const Word> first,
                           std::span<const Word> second);

}  // namespace parley::protocol
