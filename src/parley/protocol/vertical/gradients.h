// V-B among a dealer and parties, modulo 2^64: who holds which masks, round after round. The
// algebra is in secret_product.h, what may be opened and why in learn/vertical/joint_gradient.h.
//
// Trust: the dealer has no data and must not work together with any party; it knows the noise, so
// it gets no gradient, no model and no prediction. What parties send each other travels sealed
// under keys that the dealer does not know: with F_k or E_m it would know u_k or D_m.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/learn/vertical/integer_rows.h"
#include "parley/privacy/to_mask.h"
#include "parley/protocol/secagg/secrets.h"
#include "parley/protocol/vertical/secret_product.h"

namespace parley::protocol {

/// The masks of party k in one round, from the one seed that the dealer gives it. A word stream of
/// a seed is used once.
struct RoundSeeds {
  Secret32 b{};                    // masks u_k
  std::map<size_t, Secret32> c{};  // for every other m
};
RoundSeeds round_seeds(const Secret32& seed, size_t self, size_t parties);

/// So many words of a seed's stream.
Words<Word> stream_of(const Secret32& seed, size_t count);
WordMatrix<Word> matrix_of(const Secret32& seed, size_t rows, size_t columns);

class GradientDealer {
 public:
  /// `columns[m]` of party m, and the seed of its A_m, which party m gets too.
  GradientDealer(size_t records, std::vector<size_t> columns, std::span<const Secret32> setups);

  /// A seed of every party, which no round before had.
  void begin_round(std::span<const Secret32> seeds);
  /// C_m of this round, with noise. Once for every party and round.
  Words<Word> correction_for(size_t party, const std::function<int64_t()>& noise);

 private:
  size_t records_;
  std::vector<size_t> columns_;
  std::vector<WordMatrix<Word>> masks_{};  // A_m
  std::vector<RoundSeeds> round_{};
  std::vector<bool> corrected_{};
};

class GradientParty {
 public:
  /// The columns must outlive it.
  GradientParty(const privacy::ToMask<learn::IntegerColumns>& columns, size_t self, size_t parties)
      : rows_(&columns.value_.rows), self_(self), parties_(parties) {}

  /// E_m, for all others; once.
  WordMatrix<Word> setup(const Secret32& seed);
  /// Another's E.
  void take_setup(size_t from, WordMatrix<Word> masked);
  bool is_set_up() const { return others_.size() + 1 == parties_; }

  struct Sent {
    Words<Word> masked{};                    // F_k, the same for all
    std::map<size_t, Words<Word>> shares{};  // share_km, for each other m
  };
  /// `scores` are u_k; of the party with the labels, minus them.
  Sent begin_round(const privacy::ToMask<std::vector<int64_t>>& scores, const RoundSeeds& seeds);
  /// The noisy gradient, from the dealer's C_m and what the others sent this one.
  std::vector<int64_t> end_round(const Words<Word>& correction,
                                 const std::map<size_t, Words<Word>>& masked,
                                 const std::map<size_t, Words<Word>>& shares) const;

 private:
  const learn::IntegerRows* rows_;
  size_t self_, parties_;
  std::map<size_t, WordMatrix<Word>> others_{};
  Words<Word> own_{};  // u of this round
};

}  // namespace parley::protocol
