// The vertical paper's private version to the letter: ADMM sharing in which every party adds to its
// model, before it sends D x, normal noise of covariance sigma^2 (D'D)^-1. Where that does not
// exist, as for the paper's own split of a9a, columns that depend on others get none: what is sent
// has the noise that the pseudo-inverse would give it.
//
// NOT PRIVATE for any sigma. The whole message lies in the space of the party's columns, which
// tells neighbouring data apart with certainty; as many messages as columns give that space, and
// with it columns of zeros and ones exactly; and y, which is broadcast without noise, gives every
// label (theory (R11); sharing_test.cc does all three).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parley/learn/vertical/admm/admm.h"
#include "studies/paper/not_private.h"

namespace parley::paper {

struct NoisySharing {
  std::vector<learn::AdmmRound> rounds{};
  /// models_by_round[t][m]: party m's with its noise, after round t + 1.
  std::vector<std::vector<std::vector<double>>> models_by_round{};
  /// shares[t][m]: what party m sent in round t + 1.
  std::vector<std::vector<std::vector<double>>> shares{};
  std::vector<double> y{};  // as broadcast after the last round
};

/// Noise of covariance (D'D)^-1 for the columns D of every party. Its root, which takes long for
/// many columns, is found once.
class ColumnNoises {
 public:
  ColumnNoises(const std::vector<data::AnyRows>& columns, int threads);
  ~ColumnNoises();
  std::vector<double> draw(size_t party, double sigma, Entropy& entropy) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Result<NotPrivate<NoisySharing>> share_with_noise(const std::vector<data::AnyRows>& columns,
                                                  const ColumnNoises& noises,
                                                  std::span<const double> labels,
                                                  const learn::AdmmOptions& options, double sigma,
                                                  Entropy& entropy);

}  // namespace parley::paper
