// The verdict for one owner: is the job worth it? Excess risks on its own population in closed
// form, then gains in the metric with their interval, and one of four answers.
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
//
// All of that holds for the intercept and the slopes separately (pilot/metric.h), and their excess
// risks add up. Owners' intercepts often differ far more than their slopes, so each part has its
// own tau and its own weight. AUC depends on the slopes' part alone. A ridge does not apply to the
// intercept.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "parley/forecast.h"
#include "parley/forecast/owners/tau.h"
#include "parley/forecast/pilot/metric.h"

namespace parley::forecast {

/// dS / n, the squared distance of the optimum of n rows. With few rows the Hessian is random, too:
/// n is replaced by n - p - 1, as in E tr((Z'Z)^-1), but by no less than n/3.
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

/// N, the effective number of rows of the joint model: 1 / sum of w_j^2 / n_j; all rows where
/// weights are by rows.
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

using Against = parley::GainAgainst;
using Answer = parley::GainAnswer;
using Range = parley::MetricRange;
using Verdict = parley::GainVerdict;

using learn::default_worth;

/// P[gain > worth] >= 0.9: worth it; P[|gain| < worth] >= 0.9: no difference;
/// P[gain > worth] <= 0.1: not worth it; else, and with a gain that is no number, not sure.
Answer answer_of(std::span<const double> gains, double worth);

/// The mean and 90 % of draws, times `unit`.
Range range_of(const std::vector<double>& draws, double unit = 1);

/// Of draws of a gain: of RMSE and log loss as a share of `baseline`, the metric that it is
/// measured against.
Verdict verdict_of(Against against, const std::vector<double>& gains, double worth, Measure measure,
                   double baseline);

/// For people: "Worth it against alone: auc better by 0.012 (0.004 to 0.021; material from 0.002),
/// if all owners were alike."
std::string sentence(const Verdict& verdict, std::string_view metric);

/// All that a forecast for one owner needs.
struct OwnerCase {
  OwnerPlace place{};
  PilotDistances pilot{};
  PilotMetric metric{};
  Tau tau{};
  double joint_rows = 0;       // N, by joint_rows()
  Parts noise{};               // dQ: twice the excess that noise and unfinished steps leave
  double rows_per_column = 0;  // of the smaller class, by rows_per_column()
  double worth = 0;            // as default_worth()
};

struct OwnerValue {
  OwnFigures excess{};  // expected, by the closed forms, of the parts that the metric follows
  Range alone{}, own_public{}, joint{}, personal{};  // the metric on own rows
  Verdict against_alone{}, against_own_public{};
};

/// 2,000 draws, always the same ones: tau from its posterior, the owner's own tau_i = tau
/// chi^2_3/3 of the slopes and tau chi^2_1 of the intercept, and the slopes' a, dS/n0 and dS/N + dQ
/// each times chi^2_p/p. The error of the quadratic model is
/// drawn as a factor exp(0.35 N) on a difference of excess, plus 0.1 N times the excess of `alone`.
OwnerValue owner_value(const OwnerCase& owner);

}  // namespace parley::forecast
