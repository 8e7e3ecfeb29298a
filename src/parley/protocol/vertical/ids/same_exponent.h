// A proof that one secret exponent a made a whole list: made[i] = a given[i] for every i, and A = a
// G. So nobody can return a list in which two elements are exchanged or others are inserted.
//
// Coefficients r_i of 128 bits follow from a hash of both lists; X = sum r_i given[i], Y = sum r_i
// made[i]. That one exponent leads from G to A and from X to Y is proved without telling it (Chaum
// and Pedersen 1992, made non-interactive by a hash):
//   prover: random t, T = t G, T' = t X, c = hash(A, X, Y, T, T'), z = t + c a; sends c, z
//   verifier: T = z G - c A, T' = z X - c Y, and compares c
// A list with an element of another exponent passes with a probability of about 2^-128 for every
// hash that its maker tries.
#pragma once

#include <span>

#include "parley/protocol/vertical/ot/group.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

struct ExponentProof {
  ScalarBytes challenge{}, response{};
};

struct TwoLists {
  std::span<const Element> given, made;
};

/// `direction` says who proves (the sender) to whom, and in which job. `entropy` must be unknown to
/// all others, and never give the same for other lists.
Result<ExponentProof> prove_exponent(const Direction& direction, const Scalar& secret,
                                     const TwoLists& lists, Entropy& entropy);

/// An error for another exponent, another length, or bytes that are no element.
Result<void> check_exponent(const Direction& direction, const Element& generator_times,
                            const TwoLists& lists, const ExponentProof& proof);

}  // namespace parley::protocol::ot
