// The protocols that move rows' gradients, with liars among the owners.
#pragma once

#include <functional>

#include "studies/reproduce/beyond/world.h"

namespace parley::reproduce::beyond {

/// What the learner does with answers that it does not trust. Under differential privacy all of it
/// is post-processing: free, as long as it sees single answers.
enum class Sum {
  kMean,     // trusts everybody
  kClipped,  // shortens an answer to what an honest one can be: clip and noise
  kTrimmed,  // of every coordinate leaves out as many largest and smallest as it expects liars
  kMedian,   // of every coordinate
};
std::string_view name_of(Sum sum);

struct Job {
  double epsilon = 2;
  size_t liars = 0;
  Lie lie = Lie::kNone;
  Sum sum = Sum::kClipped;
  bool unbounded = false;  // colluders send numbers beyond any bound
  Vector direction{};      // of the colluders' push on a gradient
};

/// One run: the joint model. `world` gives the rows, kRows the noise.
using Train = std::function<Vector(const World& world, const Job& job, uint64_t seed)>;

Vector train_sync(const World& world, const Job& job, uint64_t seed);
/// The same where only the sum of all answers is opened: no rule sees one of them; "clipped"
/// shortens the mean.
Vector train_secure(const World& world, const Job& job, uint64_t seed);
Vector train_async(const World& world, const Job& job, uint64_t seed);
/// K local steps, in secure sums.
Vector train_federated(const World& world, const Job& job, uint64_t seed);

/// How long an answer can be that an honest owner gives but once in 10^4: clip and noise.
double honest_length(double epsilon);

}  // namespace parley::reproduce::beyond
