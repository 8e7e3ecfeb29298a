// What one owner can expect on its own population, in closed form (spec, value 2.1).
//
// Owner i's best model is theta_bar + b_i, b_i ~ (0, T); tau = tr(H T) says how much owners differ.
// Its own optimum misses that by an error of covariance H^-1 S H^-1 / n_i. The joint model is
// sum_j w_j (theta_bar + b_j + own error of j) + noise of covariance Q. With dS = tr(H^-1 S) and
// dQ = tr(H Q) the squared distances in the metric of H are
//
//     a   = dS / n_i                                      own optimum
//     d_J = tau ((1-w_i)^2 + sum_{j!=i} w_j^2) + dS/N + dQ  joint model
//     x   = w_i a                                         covariance of both errors
//
// and the excess risk of a model is half of its distance. A model W own + (1-W) other has the
// distance W^2 a + (1-W)^2 d + 2 W (1-W) x; the best W gives (a d - x^2)/(a + d - 2x). A ridge is
// such a pull to the centre 0, at distance d0 + tau; the pilot's model is a centre at distance
// tau + dS/n0.
#pragma once

#include <cstddef>
#include <span>

namespace parley::forecast {

/// dS over the rows of an optimum. Few rows have a random Hessian, too: for them n is replaced by
/// n - p - 1, as in E tr((Z'Z)^-1), and at least n/3.
double sampling_distance(double sampling, double rows, size_t columns);

/// An owner's optimum pulled to another model.
struct Pulled {
  double alone = 0, other = 0;  // excess of either
  double best = 0;              // of the best mixture (own + pull other)/(1 + pull)
  double pull = 0;              // infinite: the other model as it is
};
Pulled best_pull(double own, double other, double shared);

/// An owner among the others.
struct OwnerPlace {
  double rows = 0;
  double weight = 0;  // w_i; all add up to 1
  double others = 0;  // sum of w_j^2 over the other owners
};
/// Of all owners, from their rows and weights.
OwnerPlace place_of(size_t owner, std::span<const double> rows, std::span<const double> weights);

/// The rows whose optimum strays as far as the joint one without noise: 1 / sum of w_j^2 / n_j. All
/// rows together where weights are by rows.
double joint_rows(std::span<const double> rows, std::span<const double> weights);

/// Squared distances from the best models, in the metric of H.
struct Distances {
  double own = 0;       // a
  double pilot = 0;     // dS/n0; infinite without a pilot
  double joint = 0;     // dS/N + dQ
  double constant = 0;  // d0 = 2 (loss of the best constant - that of the best model)
  double tau = 0;       // expected between an owner's best model and the mean of all
  double own_tau = 0;   // this owner's own
};

/// Excess risk on the owner's own population.
struct OwnFigures {
  double alone = 0;       // own rows with the best ridge
  double own_public = 0;  // pulled to the pilot's model
  double joint = 0;
  double unlike = 0;    // of the joint model's: because owners differ
  double personal = 0;  // pulled to the pilot's and the joint model, whose errors are independent
};
OwnFigures own_figures(const OwnerPlace& owner, const Distances& distances);

}  // namespace parley::forecast
