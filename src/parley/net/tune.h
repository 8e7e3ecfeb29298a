// An owner combines what it learned from the others with its own rows (theory (D12), variants A and
// C): for itself, in a file that stays with it, or to be published, noisy and paid for.
#pragma once

#include <filesystem>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/entropy.h"
#include "parley/charter/policy.h"

namespace parley::net {

struct TuneOptions {
  std::filesystem::path transcript;  // of the job that this owner's learner ran
  std::filesystem::path out;         // the model's file
};

struct Tuned {
  std::string charter_name;
  std::filesystem::path file;
  bool published = false;
  double epsilon_spent = 0;            // of the published model
  std::filesystem::path transcript{};  // with its release, for `parley verify`
};

/// The others' model comes out of what they signed. Published once per charter: the same again is
/// the stored release, for nothing.
Result<Tuned> tune(const charter::Policy& policy, charter::Charter charter,
                   const TuneOptions& options, Entropy& entropy, Clock& clock);

}  // namespace parley::net
