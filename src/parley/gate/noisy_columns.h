// V-A at one owner: its part of noisy sharing (learn/vertical/noisy_sharing.h), and, where it holds
// the labels, the coordinator. Scores leave with noise only; labels are known to all owners, and
// what the coordinator tells them shows these.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/learn/vertical/admm/admm.h"
#include "parley/plan/vertical_terms.h"

namespace parley::gate {

class NoisyColumns {
 public:
  NoisyColumns(const data::AnyRows& rows, const plan::VerticalTerms& terms, size_t owner);
  NoisyColumns(NoisyColumns&&) = default;

  /// What is to be published after `published`, with noise; `told` is the coordinator's message.
  std::vector<int64_t> share(std::span<const int64_t> published, std::span<const double> told,
                             Entropy& entropy);
  /// The coefficients of the last share.
  std::vector<double> model() const { return {party_.model().begin(), party_.model().end()}; }

  /// Of the owner that holds the labels: what the coordinator tells after these sums, of which
  /// those that it took already are as before.
  std::span<const double> told_after(std::span<const std::vector<int64_t>> sums);

 private:
  learn::NoisySharingPlan plan_;
  learn::Losses loss_;
  privacy::Gaussian noise_;
  size_t parties_;
  learn::NoisySharingParty party_;
  std::vector<double> labels_{};
  std::optional<learn::Coordinator> coordinator_{};
  size_t taken_ = 0;  // sums
};

}  // namespace parley::gate
