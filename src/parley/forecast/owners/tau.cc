#include "parley/forecast/owners/tau.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "parley/base/math/chi_square.h"
#include "parley/base/math/portable.h"
#include "parley/learn/objective.h"
#include "parley/plan/noise.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/sums/distance.h"

namespace parley::forecast {
namespace {

constexpr size_t kPosterior = 64;
constexpr double kModelVariance = .05;  // of log tau

/// Normal quantiles of equal probability.
std::vector<double> normal_nodes() {
  std::vector<double> nodes;
  for (size_t k = 0; k < kPosterior; ++k)
    nodes.push_back(normal_quantile((static_cast<double>(k) + .5) / kPosterior));
  return nodes;
}

/// The k-th of as many values in another order, so that two parts with errors of their own can be
/// paired.
size_t paired(size_t k) { return 27 * k % kPosterior; }

/// The expected norm as a function of tau, with its derivative. Owners with the same number of rows
/// are one term.
class NormCurve {
 public:
  NormCurve(const NormSum& sum, double shift) : intercept_(sum.intercept) {
    const double total = sum.total();
    std::map<double, double> shares;
    for (size_t i = 0; i < sum.rows.size(); ++i) shares[sum.rows[i]] += sum.weights[i] / total;
    for (const auto& [rows, share] : shares)
      terms_.push_back({share, sum.square * (1 / rows + 1 / sum.pilot_rows) + shift});
  }

  struct Point {
    double value = 0, slope = 0;
  };
  Point at(double tau) const {
    Point sum;
    if (intercept_) return at_one(tau);
    for (const Term& term : terms_)
      for (double x : chi_square_3_nodes()) {
        const double root = std::sqrt(tau * x + term.error);
        sum.value += term.share * root / kChiSquareNodes;
        sum.slope += term.share * x / (2 * root) / kChiSquareNodes;
      }
    return sum;
  }

  /// The tau at which the curve reaches `norm`, from a `start` below it. The curve rises and is
  /// concave, so Newton's steps never pass the solution.
  double solve(double norm, double start) const {
    double tau = start;
    for (int i = 0; i < 200; ++i) {
      const Point here = at(tau);
      if (!(here.slope > 0)) break;
      const double step = (norm - here.value) / here.slope;
      if (!(step > 1e-13 * tau)) break;
      tau += step;
    }
    return tau;
  }

 private:
  struct Term {
    double share, error;
  };
  /// The mean of |N(0, v)| is sqrt(2 v / pi).
  Point at_one(double tau) const {
    Point sum;
    for (const Term& term : terms_) {
      const double root = std::sqrt(2 / std::numbers::pi * (tau + term.error));
      sum.value += term.share * root;
      sum.slope += term.share / (std::numbers::pi * root);
    }
    return sum;
  }

  bool intercept_;
  std::vector<Term> terms_{};
};

struct Site {
  double rows = 0;
  Parts distance{};
};

std::vector<Site> sites_of(const PilotStatistics& pilot, std::span<const uint32_t> sites) {
  std::map<uint32_t, data::Rows> parts;
  for (size_t i = 0; i < sites.size(); ++i)
    parts.try_emplace(sites[i], pilot.rows->columns())
        .first->second.add(pilot.rows->row(i), pilot.rows->label(i));
  std::vector<Site> found;
  for (const auto& [site, rows] : parts)
    if (rows.size() >= 2)
      found.push_back({static_cast<double>(rows.size()), distance_from_pilot(pilot, rows)});
  return found;
}

}  // namespace

std::string_view name_of(Tau::From from) {
  switch (from) {
    case Tau::From::kDeclared:
      return "declared";
    case Tau::From::kSites:
      return "sites";
    case Tau::From::kNorms:
      return "paid";
    case Tau::From::kAlike:
      break;
  }
  return "nobody";
}

MetricRange tau_range(const Tau& tau) {
  const auto nodes = normal_nodes();
  const auto drawn = [&](const TauPart& part, size_t k, double z) {
    return part.posterior[k % part.posterior.size()] * std::exp(std::sqrt(part.log_variance) * z);
  };
  std::vector<double> all;
  const size_t values = std::max(tau.slopes.posterior.size(), tau.intercept.posterior.size());
  for (size_t k = 0; k < values; ++k)
    for (size_t z = 0; z < kPosterior; ++z)
      all.push_back(drawn(tau.slopes, k, nodes[z]) + drawn(tau.intercept, k, nodes[paired(z)]));
  return {tau.value(), quantile(all, .05), quantile(all, .95)};
}

Tau undivided_tau(Tau::From from, const TauPart& all) {
  Tau tau{.from = from, .slopes = all, .intercept = all};
  for (TauPart* part : {&tau.slopes, &tau.intercept}) part->value /= 2;
  for (size_t k = 0; k < all.posterior.size(); ++k) {
    const double share = (static_cast<double>(paired(k)) + .5) / kPosterior;
    tau.slopes.posterior[k] *= 1 - share;
    tau.intercept.posterior[k] *= share;
  }
  return tau;
}

Tau declared_tau(double value, bool intercept) {
  check(value >= 0 && std::isfinite(value));
  if (value == 0) return {};
  const double deviation = std::log(3.0) / normal_quantile(.95);
  TauPart all{.value = value, .posterior = {}};
  for (double z : normal_nodes()) all.posterior.push_back(value * std::exp(deviation * z));
  if (!intercept) return {.from = Tau::From::kDeclared, .slopes = std::move(all)};
  return undivided_tau(Tau::From::kDeclared, all);
}

namespace {

/// The mean of one part over sites, with its error. `freedom` is that of a site's own.
TauPart part_of(std::span<const double> each, double freedom) {
  const auto count = static_cast<double>(each.size());
  double mean = 0, variance = 0;
  for (double value : each) mean += value / count;
  for (double value : each) variance += (value - mean) * (value - mean) / (count - 1);
  // Few sites may agree by chance; tau_i = tau chi^2_k/k alone has the variance 2/k tau^2.
  variance = std::max(variance, 2 * mean * mean / freedom);
  // Student's distribution is wider than the normal: its variance is (m-1)/(m-3).
  const double error = std::sqrt(variance / count * (count - 1) / std::max(count - 3, .5));
  TauPart part{.value = std::max(mean, 0.0), .posterior = {}, .log_variance = kModelVariance};
  for (double z : normal_nodes()) part.posterior.push_back(std::max(mean + error * z, 0.0));
  return part;
}

/// Parts with errors of their own.
Tau tau_of_parts(Tau::From from, TauPart slopes, const TauPart& intercept) {
  Tau tau{.from = from, .slopes = std::move(slopes), .intercept = intercept};
  if (intercept.posterior.size() == kPosterior)
    for (size_t k = 0; k < kPosterior; ++k)
      tau.intercept.posterior[k] = intercept.posterior[paired(k)];
  return tau;
}

}  // namespace

Result<Tau> tau_from_sites(const PilotStatistics& pilot, const PilotDistances& distances,
                           std::span<const uint32_t> sites) {
  check(sites.size() == pilot.rows->size());
  const auto found = sites_of(pilot, sites);
  const auto count = static_cast<double>(found.size());
  if (count < 2)
    return Error{Code::kInvalid, "the public rows name fewer than two sites",
                 "Declare how much owners differ, or buy it in a secure sum."};
  const double n0 = pilot.count();
  double squares = 0;
  for (const Site& site : found) squares += site.rows / n0 * (site.rows / n0);
  std::vector<double> slopes, intercepts;
  for (const Site& site : found) {
    const double seen = 1 - 2 * site.rows / n0 + squares;  // (1-w)^2 + sum of the others' w^2
    slopes.push_back((site.distance.slopes + distances.sampling.slopes / n0) / seen);
    intercepts.push_back((site.distance.intercept + distances.sampling.intercept / n0) / seen);
  }
  return tau_of_parts(Tau::From::kSites, part_of(slopes, 3),
                      pilot.bias ? part_of(intercepts, 1) : TauPart{});
}

double NormSum::total() const {
  double sum = 0;
  for (double weight : weights) sum += weight;
  return sum;
}

double NormSum::sensitivity() const { return plan::kReplaceOne * clip; }

double NormSum::noise(double rho, double surplus) const {
  return plan::gaussian_scale(sensitivity(), surplus, rho) / total();
}

double NormSum::expected(double tau, double shift) const {
  return NormCurve(*this, shift).at(tau).value;
}

double NormSum::rho_for(double precision, double norm, double surplus) const {
  return plan::gaussian_rho(sensitivity(), surplus, total() * precision / (2 * norm));
}

TauPart tau_from_norms(const NormSum& sum, double norm, double deviation, double shift) {
  const NormCurve curve(sum, shift);
  const double freedom = sum.intercept ? 1 : 3;
  TauPart tau{
      .value = curve.solve(norm, 0),
      .posterior = {},
      .log_variance = 2 / (freedom * static_cast<double>(sum.rows.size())) + kModelVariance};
  double last = 0;  // Nodes rise, and so do their solutions.
  for (double z : normal_nodes())
    tau.posterior.push_back(last = curve.solve(norm + deviation * z, last));
  return tau;
}

namespace {

using RowsPointer = std::shared_ptr<const data::Rows>;

/// Of both lengths.
struct NormSums {
  NormSum slopes{}, intercept{};
};

NormSums norm_sums(const PilotStatistics& pilot, double clip, std::vector<double> rows,
                   std::vector<double> weights, int threads) {
  const Parts square = clipped_square(pilot, pilot_scores(pilot, threads), clip);
  NormSums found{.slopes = {.clip = clip,
                            .square = square.slopes,
                            .pilot_rows = pilot.count(),
                            .rows = std::move(rows),
                            .weights = std::move(weights)}};
  found.intercept = found.slopes;
  found.intercept.square = square.intercept, found.intercept.intercept = true;
  return found;
}

/// If all owners take part.
NormSums norm_sums(const PilotStatistics& pilot, const charter::Charter& charter, int threads) {
  std::vector<double> rows;
  for (const charter::Owner& owner : charter.owners)
    rows.push_back(static_cast<double>(owner.rows));
  return norm_sums(pilot, charter.privacy.max_grad_norm, std::move(rows),
                   plan::distance_weights(charter), threads);
}

/// What was paid, or would have been without noise.
Tau tau_of(const NormSums& sums, const learn::Distance& paid) {
  const auto part = [&](const NormSum& sum, double norm) {
    return tau_from_norms(sum, norm, paid.norm_error);
  };
  if (!paid.intercept) return {.from = Tau::From::kNorms, .slopes = part(sums.slopes, paid.norm)};
  return tau_of_parts(Tau::From::kNorms, part(sums.slopes, paid.norm),
                      part(sums.intercept, *paid.intercept));
}

Tau tau_of(const learn::Distance& paid, const PilotStatistics& pilot, double clip, int threads) {
  NormSums sums =
      norm_sums(pilot, clip, {paid.rows.begin(), paid.rows.end()}, paid.weights, threads);
  if (paid.intercept || !pilot.bias) return tau_of(sums, paid);
  sums.slopes.square += sums.intercept.square;  // One length of both.
  return undivided_tau(Tau::From::kNorms, tau_of(sums, paid).slopes);
}

}  // namespace

Result<Tau> paid_tau(const learn::Model& file, const RowsPointer& pilot, int threads) {
  if (!file.distance)
    return Error{Code::kInvalid, "is no result of rule \"distance\": it says nothing about owners",
                 "Give the model.json that a job with that rule has left."};
  if (pilot == nullptr || pilot->columns() != file.theta.size() || !(file.box > 0) ||
      !(file.card.max_grad_norm > 0))
    return Error{Code::kInvalid, "was measured with columns or bounds that do not fit these rows",
                 "Give the file as the job has left it."};
  PilotStatistics statistics = statistics_of(file.loss, file.l2, file.box, pilot, threads);
  statistics.bias = file.schema.bias_at();
  return tau_of(*file.distance, statistics, file.card.max_grad_norm, threads);
}

std::vector<Tau> paid_taus(const charter::Charter& charter,
                           std::span<const learn::Distance> distances, const RowsPointer& pilot,
                           int threads) {
  const PilotStatistics statistics = statistics_of(charter, pilot, threads);
  std::vector<Tau> found;
  for (const learn::Distance& distance : distances)
    found.push_back(tau_of(distance, statistics, charter.privacy.max_grad_norm, threads));
  return found;
}

Result<double> noiseless_tau(const charter::Charter& charter, std::span<const data::AnyRows> owners,
                             const RowsPointer& pilot, int threads) {
  const PilotStatistics statistics = statistics_of(charter, pilot, threads);
  const auto metric = TRY(plan::distance_metric(charter, pilot.get()));
  const auto point = metric->point(statistics.optimum.theta);
  const NormSums sums = norm_sums(statistics, charter, threads);
  const NormSum& sum = sums.slopes;
  const size_t first = statistics.bias ? 1 : 0;  // of the slopes
  learn::Distance paid;
  if (statistics.bias) paid.intercept = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    const auto there = std::get<RowsPointer>(metric->rows(owners[i]));
    const auto mean =
        learn::mean_gradient(statistics.loss, *there, point, learn::ClipIn::kL2, sum.clip);
    double square = 0;
    for (size_t j = first; j < mean.size(); ++j) square += mean[j] * mean[j];
    paid.norm += sum.weights[i] / sum.total() * std::sqrt(square);
    if (first) *paid.intercept += sum.weights[i] / sum.total() * std::fabs(mean[0]);
  }
  return tau_of(sums, paid).value();
}

double exact_tau(const charter::Charter& charter, std::span<const RowsPointer> owners,
                 const RowsPointer& pilot, int threads) {
  const PilotStatistics statistics = statistics_of(charter, pilot, threads);
  double sum = 0;
  for (const RowsPointer& rows : owners) sum += distance_from_pilot(statistics, *rows).all();
  const double sampling =
      pilot_distances(statistics, pilot_scores(statistics, threads)).sampling.all();
  return sum / static_cast<double>(owners.size()) - sampling / statistics.count();
}

double distance_clip(const charter::Charter& charter, const RowsPointer& pilot, int threads) {
  const PilotStatistics statistics = statistics_of(charter, pilot, threads);
  return pilot_distances(statistics, pilot_scores(statistics, threads)).clip;
}

Result<DistanceForecast> forecast_distance(const charter::Charter& charter,
                                           const RowsPointer& pilot, std::span<const double> taus,
                                           int threads) {
  const PilotStatistics statistics = statistics_of(charter, pilot, threads);
  const NormSum sum = norm_sums(statistics, charter, threads).slopes;
  DistanceForecast found{.noise = TRY(plan::distance_noise(charter)), .alike = sum.expected(0)};
  for (const double tau : taus) {
    const double norm = sum.expected(tau);
    const MetricRange range = tau_range({.slopes = tau_from_norms(sum, norm, found.noise)});
    found.points.push_back({tau, norm, range.low, range.high});
  }
  return found;
}

}  // namespace parley::forecast
