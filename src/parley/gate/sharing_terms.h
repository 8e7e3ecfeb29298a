// From a charter over columns in several places (V-B, learn/sharing/joint_gradient.h) to what its
// owners and the dealer agree on: bounds, steps, and the noise that the strictest budget buys.
#pragma once

#include "parley/charter/charter.h"
#include "parley/learn/sharing/joint_gradient.h"
#include "parley/learn/sharing/noisy_sharing.h"
#include "parley/privacy/mechanism/gaussian.h"

namespace parley::gate {

struct SharingTerms {
  Hash charter{};
  uint32_t rounds = 0;
  learn::JointPlan plan{};
  learn::JointSteps steps{};
  std::vector<size_t> columns{};  // features of each owner
  size_t label_holder = 0;
  double sensitivity = 0;   // of what a round releases to whole records, in its units
  privacy::Gaussian noise;  // in it; of rule gradients drawn by the dealer
  std::optional<learn::NoisySharingPlan> noisy{};  // of rule noisy_sharing
};

/// The same for all parties. Every owner is charged for the whole sum in every round, since every
/// part of it is about its records; so the noise is what the smallest budget needs. What this
/// version cannot run soundly is refused, naming the key.
Result<SharingTerms> sharing_terms(const charter::Charter& charter);

/// The columns of one owner, and the label and the bias where it holds the label.
learn::Schema part_schema(const charter::Charter& charter, size_t owner);
bool holds_label(const charter::Charter& charter, size_t owner);

}  // namespace parley::gate
