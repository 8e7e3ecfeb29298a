// The plainest way to a private model, as a baseline: every owner finds the best model of its own
// rows, adds noise once, and the models are averaged by rows (Chaudhuri, Monteleoni, Sarwate 2011).
//
// Replacing one of n records moves the gradient of the mean clipped loss by at most 2C/n
// everywhere, and with it the minimiser of a fitness that is l2-strongly convex by at most 2C/(n
// l2), over a box as well; a solver that stops at a gap g is within sqrt(2g/l2) of it. That is the
// sensitivity in L2; the noise has density exp(-|w| epsilon/sensitivity) for pure epsilon, or is
// Gaussian. In plain doubles and for simulation only.
#pragma once

#include <vector>

#include "parley/sim/simulate.h"

namespace parley::sim {

/// Whether it is defined for this job: not without l2, nor for hinge or sparse rows. The error
/// names the key.
Result<void> check_baseline(const SimulateInput& input);

class OutputPerturbation {
 public:
  /// Solves for every owner. Refused, naming the key, without l2 and for hinge or sparse rows.
  static Result<OutputPerturbation> make(const SimulateInput& input);

  /// The averaged model of one run.
  std::vector<double> run(uint64_t seed, uint64_t run) const;

  /// The sensitivity of an owner's model, of all records of one unit.
  double sensitivity(size_t owner) const { return owners_[owner].sensitivity; }

 private:
  struct Owner {
    std::string name;
    std::vector<double> theta;
    double weight = 0;
    double sensitivity = 0;
    double scale = 0;  // of the noise: sensitivity / epsilon, or sigma
  };
  bool pure_ = true;
  double box_ = 0;
  std::vector<Owner> owners_{};
};

}  // namespace parley::sim
