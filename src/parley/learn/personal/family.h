// The candidate models among which a personal model is chosen, listed before any row is read.
#pragma once

#include <optional>
#include <vector>

#include "parley/learn/personal/own_loss.h"
#include "parley/learn/personal/personal.h"
#include "parley/learn/personal/pull.h"

namespace parley::learn {

using Models = std::vector<std::vector<double>>;

/// Models are always in the candidates' order: by pull, by centre, by strength; then each centre
/// with an own bias, and each centre itself.
struct Family {
  std::vector<Pull> pulls{};
  Models centres{};  // but zero
  std::optional<size_t> bias{};
  std::vector<PersonalCandidate> candidates{};

  Models fitted(const OwnLoss& own) const;
};

/// An error where personal_models() has one.
Result<Family> family_of(const PersonalInput& input);

}  // namespace parley::learn
