// What an auditor attacks: something that claims to be differentially private and can be played
// with, over and over, in worlds of the attacker's choice.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parley/audit.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley::audit {

/// Two neighbouring data sets: the attacker's record and its opposite, all else equal.
enum class World { kFirst, kSecond };

using parley::Claim;

/// One play: what is attacked runs in this world, and the attacker makes a number of what it saw
/// that is larger in the second. It may be called by several threads.
using Play = std::function<Result<double>(World, Entropy&)>;

/// One run with many canaries: each is the record or its opposite, as its coin says; returns a
/// number per canary that is larger for true.
using CanaryRun =
    std::function<Result<std::vector<double>>(const std::vector<bool>& coins, Entropy&)>;

struct Target {
  std::string kind{};  // mechanism, charter or planted
  std::string name{};
  std::string what{};  // how it is attacked, in a sentence
  Claim claimed{};
  Play play{};
  Play control{};  // the same with a fault of known size, to show that the attack would see it
  std::string control_name{};
  CanaryRun canaries{};  // empty: cannot be attacked in one run
  CanaryRun control_canaries{};
};

}  // namespace parley::audit
