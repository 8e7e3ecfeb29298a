// The dealer: a party without data that gives masks to all owners and draws the noise that no owner
// may know. All of it is a function of the dealer's key, the owners' digests of their columns, and
// the round. Noisy sharing has no masks; there the dealer's seeds identify the rounds of a job on
// these data.
#pragma once

#include <optional>
#include <vector>

#include "parley/plan/vertical_terms.h"
#include "parley/protocol/vertical/gradients.h"
#include "parley/protocol/vertical/moments.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {

class Dealer {
 public:
  /// `columns` are the digests by which the owners vouch for their data: other data, other masks.
  Dealer(const plan::VerticalTerms& terms, const Secret32& key, std::span<const Hash> columns);

  Secret32 setup_seed(size_t party) const { return seed("setup", party, 0); }
  Secret32 round_seed(size_t party, uint32_t round) const { return seed("round", party, round); }
  /// C_m of every party, with the noise in it; nothing under noisy sharing.
  std::vector<Words<Word>> corrections(uint32_t round);

 private:
  Secret32 seed(std::string_view purpose, size_t party, uint32_t round) const;

  privacy::Gaussian noise_;
  size_t parties_;
  Secret32 key_;  // for these data
  std::optional<GradientDealer> gradients_{};
  std::optional<MomentsDealer> moments_{};
};

}  // namespace parley::protocol
