// An owner releases moments that replace a pilot: once, from its own ledger, when a person asks for
// it.
#pragma once

#include <optional>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/entropy.h"
#include "parley/charter/policy.h"
#include "parley/plan/moments.h"

namespace parley::net {

/// What the person who types the command decides.
struct MomentsOrder {
  plan::MomentsPrice price;
  std::string dataset{};  // of the policy; may be empty if it has one only
};

/// How much noise it would have, in a sentence; an error where it would be noise only.
Result<std::string> moments_noise(const charter::Policy& policy, const charter::Charter& charter,
                                  const MomentsOrder& order);

/// Reads the owner's data by its policy, pays, and gives what was released; the same again for
/// nothing; signed by the policy's key, if it names one. Refused without a rule in the policy that
/// lets this consortium spend so much of the data set, and beyond its budget.
Result<data::PaidMoments> release_moments(const charter::Policy& policy,
                                          const charter::Charter& charter,
                                          const MomentsOrder& order, Entropy& entropy,
                                          Clock& clock);

/// Are they of an owner of the charter and, where it names a key for that owner, signed with it?
/// What another has changed or made up is kIntegrity.
Result<void> check_moments(const charter::Charter& charter, const data::PaidMoments& moments,
                           const std::string& file);

}  // namespace parley::net
