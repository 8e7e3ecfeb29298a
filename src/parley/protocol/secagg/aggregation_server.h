// The server's side of secure aggregation (see aggregation.h). It relays messages, keeps the list
// of members that are still there, and opens the sum.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "parley/protocol/secagg/aggregation.h"
#include "parley/wire/transcript.h"

namespace parley::protocol {

/// Messages of one phase arrive in any order; whoever drives it closes the phase when all are there
/// or time is up. A member's message that is wrong is an error and changes nothing; the member may
/// be left out. Closing a phase fails when too few are left, and then nothing is opened.
class AggregationServer {
 public:
  explicit AggregationServer(const AggregationPlan& plan);

  Result<void> take(const Keys& keys);
  Result<Commitments> close_keys();
  const std::map<size_t, Keys>& keys() const { return keys_; }

  /// In a sparse graph everyone who sent keys must reveal its number; where all are neighbours
  /// nobody has one, and the phase is closed at once.
  Result<void> take(size_t from, const Reveal& reveal);
  Result<std::map<size_t, NeighbourKeys>> close_reveals();

  Result<void> take(size_t from, const std::vector<SealedShares>& shares);
  Result<std::map<size_t, std::vector<SealedShares>>> close_shares();

  Result<void> take(size_t from, std::vector<uint64_t> masked);
  Result<Survivors> close_masked();

  Result<void> take(const Consent& consent);
  /// As many as are needed; for everyone who gave one.
  Result<std::vector<Consent>> close_consents();
  const std::map<size_t, Consent>& consents() const { return consents_; }

  Result<void> take(size_t from, const Unmask& unmask);
  /// The sum of the survivors' vectors, modulo 2^64, read as signed numbers.
  Result<std::vector<int64_t>> open_sum();
  /// The masks that this took off, of which the server alone knows that they are the right ones:
  /// without_masks gives the same sum.
  const std::vector<wire::OpenedMask>& masks() const { return masks_; }

  const std::vector<size_t>& survivors() const { return survivors_; }

 private:
  enum class Phase { kKeys, kReveals, kShares, kMasked, kConsents, kUnmask };
  Result<void> expect(Phase phase, size_t member, bool known) const;
  Result<void> enough(size_t left, const char* what) const;
  Result<Secret32> secret_of(size_t member, bool of_key) const;
  Error wrong(size_t member, const std::string& what) const;

  const AggregationPlan& plan_;
  Hash plan_context_;
  Drawn drawn_;
  Phase phase_ = Phase::kKeys;
  std::map<size_t, Keys> keys_{};
  Numbers numbers_{};
  Hash everyones_{};
  std::map<size_t, std::vector<SealedShares>> shares_{};
  std::map<size_t, std::vector<uint64_t>> masked_{};
  std::vector<size_t> survivors_{};
  std::map<size_t, Consent> consents_{};
  std::set<size_t> unmasked_{};
  std::map<std::pair<size_t, bool>, std::vector<SecretShare>> opened_{};  // member, of its key?
  std::vector<wire::OpenedMask> masks_{};
};

/// Takes these masks off a sum of masked vectors.
void without_masks(std::span<uint64_t> sum, const std::vector<wire::OpenedMask>& masks);

}  // namespace parley::protocol
