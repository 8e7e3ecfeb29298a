// How much owners differ: tau = tr(H T), the expected squared distance between an owner's best
// model and the mean of all, in two parts (pilot/metric.h). The intercept is one parameter for each
// owner, and does not change the AUC within an owner; slopes are as many parameters as there are
// columns. A pilot that is one sample cannot estimate tau. It is declared, estimated from sites
// that the pilot's rows name, or bought under rule "distance".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/data/any_rows.h"
#include "parley/forecast.h"
#include "parley/forecast/pilot/metric.h"
#include "parley/learn/model.h"

namespace parley::forecast {

/// Of one part.
struct TauPart {
  double value = 0;
  std::vector<double> posterior{0.0};  // values of equal probability
  /// Beyond the posterior: the error of the model, and that m owners are a sample. A draw is one of
  /// the posterior times exp(N(0, log_variance)).
  double log_variance = 0;
};

struct Tau {
  enum class From { kAlike, kDeclared, kSites, kNorms };

  From from = From::kAlike;
  TauPart slopes{}, intercept{};  // the k-th values of their posteriors belong together

  double value() const { return slopes.value + intercept.value; }
  /// Nobody knows it, and the answer reads "if all owners were alike".
  bool alike() const { return from == From::kAlike; }
};

/// "nobody", "declared", "sites", "paid".
std::string_view name_of(Tau::From from);

/// Both parts together, with 90 % of what it may be.
MetricRange tau_range(const Tau& tau);

/// Where only both parts together are known: any share of it may be the intercept's, with equal
/// probability.
Tau undivided_tau(Tau::From from, const TauPart& all);

/// Declared by a person: 90 % within a factor of 3 either way. 0 is that owners are alike.
Tau declared_tau(double value, bool intercept = true);

/// From sites that the pilot's rows name, for either part. With U_g the squared distance of site g
/// from the pilot's optimum, which has seen the site's own rows,
///     E U_g = tau ((1-w_g)^2 + sum_{j!=g} w_j^2) - dS/n0,    w_g the site's share of rows.
/// The standard error is that of the mean over sites. Needs two sites of two rows or more.
Result<Tau> tau_from_sites(const PilotStatistics& pilot, const PilotDistances& distances,
                           std::span<const uint32_t> sites);

/// The public numbers of rule "distance": owners enter v_i r_i into a secure sum
/// (plan/sums/distance.h). Of one of its two lengths.
struct NormSum {
  double clip = 0;                // cw
  double square = 0;              // Cc of this part
  double pilot_rows = 0;          // n0
  std::vector<double> rows{};     // n_i
  std::vector<double> weights{};  // v_i (plan/sums/distance.h)
  bool intercept = false;         // else of the slopes

  double total() const;  // V = sum of v_i
  /// A replaced record moves v_i r_i by at most 2 cw v_i / n_i <= 2 cw.
  double sensitivity() const;
  /// The standard deviation s of the noise on sum / V: 2 cw sqrt(k) / (mu V). `rho` pays for it,
  /// mu = sqrt(2 rho); `surplus` is k = m / (survivors - colluders).
  double noise(double rho, double surplus) const;
  /// sum_i (v_i/V) E sqrt(tau X + c_i), X ~ chi-square_3 / 3, c_i = Cc (1/n_i + 1/n0). Of the
  /// intercept, which is one normal number with its sampling error, sqrt(2 / pi) sqrt(tau + c_i).
  /// `shift` is the squared distance between the pilot and the owners' mean, where it is known: it
  /// adds to c_i.
  double expected(double tau, double shift = 0) const;
  /// The rho at which tau is known to +- `precision` where the mean norm is about `norm`:
  /// d tau = 2 r s.
  double rho_for(double precision, double norm, double surplus) const;
};

/// The tau with expected(tau) = `norm`, the sum / V that was paid for, which has noise of standard
/// deviation `deviation`; 0 where `norm` is below that of owners that are alike.
TauPart tau_from_norms(const NormSum& sum, double norm, double deviation, double shift = 0);

/// tau of a file that a job of rule "distance" left. `pilot` holds the public rows as that job read
/// them, by the file's own columns. Refuses a file of another kind.
Result<Tau> paid_tau(const learn::Model& file, const std::shared_ptr<const data::Rows>& pilot,
                     int threads = 1);

/// The same of several runs of one charter.
std::vector<Tau> paid_taus(const charter::Charter& charter,
                           std::span<const learn::Distance> distances,
                           const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// For simulations, which have all owners' rows: tau of the number without noise.
Result<double> noiseless_tau(const charter::Charter& charter, std::span<const data::AnyRows> owners,
                             const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// Likewise, the mean of the owners' squared distances from the pilot's optimum, minus the pilot's
/// own error: unbiased; with few owners the furthest dominates it. May be below 0.
double exact_tau(const charter::Charter& charter,
                 std::span<const std::shared_ptr<const data::Rows>> owners,
                 const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// cw of a charter that leaves its max_grad_norm open: the pilot's 95 % quantile.
double distance_clip(const charter::Charter& charter,
                     const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// What the lengths of rule "distance" would tell of tau without the intercept's part, before
/// anyone pays for them.
struct DistanceForecast {
  /// If tau were this: the expected mean length, and the 90 % interval that would be said of tau.
  struct Point {
    double tau = 0, norm = 0, low = 0, high = 0;
  };
  double noise = 0;  // standard deviation of the noise on either mean length
  double alike = 0;  // the mean length if all owners were alike
  std::vector<Point> points{};
};

/// Of a complete charter, for each of these values of tau.
Result<DistanceForecast> forecast_distance(const charter::Charter& charter,
                                           const std::shared_ptr<const data::Rows>& pilot,
                                           std::span<const double> taus, int threads = 1);

}  // namespace parley::forecast
