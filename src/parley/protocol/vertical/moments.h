// V-C among a dealer and parties, modulo 2^64: the products of every two parties' columns, each
// opened once, with noise (learn/vertical/joint_moments.h). Trust is that of gradients.h.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "parley/learn/vertical/joint_moments.h"
#include "parley/privacy/mechanism/gaussian.h"
#include "parley/protocol/vertical/gradients.h"

namespace parley::protocol {

class MomentsDealer {
 public:
  /// `setups` are the seeds of A_m, as wide as party m's columns with its label.
  MomentsDealer(size_t records, learn::MomentsLayout layout, std::span<const Secret32> setups);

  /// For every later party k: A_m' A_k - c_km, with noise, row by row. Once for every party.
  Words<Word> correction_for(size_t party, std::span<const Secret32> rounds,
                             const std::function<int64_t()>& noise) const;

 private:
  learn::MomentsLayout layout_;
  std::vector<WordMatrix<Word>> masks_{};
};

class MomentsParty {
 public:
  /// The columns must outlive it.
  MomentsParty(const privacy::ToMask<learn::IntegerColumns>& columns, learn::MomentsLayout layout,
               size_t self)
      : columns_(&columns.value_), layout_(std::move(layout)), self_(self) {}

  /// E_m, for all others; once.
  WordMatrix<Word> setup(const Secret32& seed);
  /// Another's E.
  void take_setup(size_t from, Words<Word> masked);
  bool is_set_up() const { return others_.size() + 1 == layout_.parties(); }

  /// The moments of this party's own columns, with its own noise: on the diagonal and beside it.
  Words<Word> own(const privacy::Gaussian& noise, const privacy::Gaussian& beside,
                  Entropy& entropy) const;
  /// For an earlier party.
  Words<Word> share_for(size_t earlier, const RoundSeeds& seeds) const;
  /// The noisy products with a later party's columns, from its share and the dealer's correction.
  Words<Word> opened_with(size_t later, std::span<const Word> share,
                          std::span<const Word> correction) const;

 private:
  /// Calls with column and value of what is not zero in a record, its label last.
  template <class Take>
  void each_of(size_t record, const Take& take) const;

  const learn::IntegerColumns* columns_;
  learn::MomentsLayout layout_;
  size_t self_;
  WordMatrix<Word> mask_{};  // A of this party
  std::map<size_t, WordMatrix<Word>> others_{};
};

}  // namespace parley::protocol
