#include <algorithm>

#include "parley/base/math/eigen.h"
#include "parley/base/result.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// With more kinds of owners than this, neighbours are replaced by their mean.
constexpr size_t kGroups = 8;

/// All directions of the quadratic: E (1/2) e' H e, and the distribution of the output.
struct Sum {
  double excess = 0;
  OutputDistribution distribution{};
};

/// Each owner's curvature along an axis, relative to the weighted mean of all owners'. The mean is
/// taken to be the pilot's: only the ratios come from the owners' moments.
std::vector<double> relative_curvatures(const AsyncJob& job, const Vector& axis) {
  std::vector<double> found;
  double joint = 0;
  for (size_t i = 0; i < job.curvatures.size(); ++i) {
    const auto p = axis.size();
    const Eigen::Map<const Matrix> own(job.curvatures[i].data(), p, p);
    found.push_back(axis.dot(own * axis));
    joint += job.rule.owners[i].weight * found.back();
  }
  for (double& own : found) own = joint > 0 ? own / joint : 1;
  return found;
}

Sum over_directions(const PilotStatistics& statistics, const AsyncJob& job, bool quiet) {
  const auto groups_along = [&](std::span<const double> curvatures) {
    auto groups = grouped(job.rule, job.variances, job.rows, kGroups, curvatures);
    for (AsyncGroup& group : groups) group.variance *= quiet ? 0 : 1;
    return groups;
  };
  const auto alike = groups_along({});
  const auto p = static_cast<Eigen::Index>(statistics.dimension());
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      Matrix(Eigen::Map<const Matrix>(statistics.hessian.data(), p, p)));
  const Vector optimum = Eigen::Map<const Vector>(statistics.optimum.theta.data(), p);
  const Vector along = solver.eigenvectors().transpose() * optimum;
  // One record's gradient at the optimum varies by G = H spread H.
  const Matrix spread_of_one = Eigen::Map<const Matrix>(statistics.spread.data(), p, p);
  Sum sum;
  Vector mean(p), variance(p);
  for (Eigen::Index j = 0; j < p; ++j) {
    const double h = solver.eigenvalues()[j];  // l2 included
    const Vector axis = solver.eigenvectors().col(j);
    const double record = h * h * axis.dot(spread_of_one * axis);
    const double differ = 2 * h * job.differ / static_cast<double>(p);
    const AsyncMoments found = async_moments(
        job.rule, job.curvatures.empty() ? alike : groups_along(relative_curvatures(job, axis)),
        {h - statistics.l2, along[j], record, differ});
    sum.excess += h / 2 * found.square;
    mean[j] = found.mean;
    variance[j] = std::max(found.square - found.mean * found.mean, 0.0);
  }
  const Vector end = optimum + solver.eigenvectors() * mean;
  const Matrix spread =
      solver.eigenvectors() * variance.asDiagonal() * solver.eigenvectors().transpose();
  sum.distribution = {{end.begin(), end.end()}, {spread.data(), spread.data() + spread.size()}};
  return sum;
}

Prediction by_runs(const PilotStatistics& statistics, const AsyncJob& job, int threads,
                   std::string why) {
  const PilotRuns noisy = run_on_pilot(statistics, job, false, threads);
  const PilotRuns quiet = run_on_pilot(statistics, job, true, threads);
  return {.predictor = "pilot_monte_carlo",
          .why = "asynchronous, " + std::move(why),
          .excess = std::max(noisy.excess, quiet.excess),  // Noise may be less than sampling error.
          .optimisation = quiet.excess,
          .distribution = noisy.distribution};
}

/// As learn::stability, of one owner whose curvature is known.
double own_stability(const AsyncJob& job, size_t i, double l2) {
  const auto p = static_cast<Eigen::Index>(job.rule.dimension);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      Matrix(Eigen::Map<const Matrix>(job.curvatures[i].data(), p, p)), Eigen::EigenvaluesOnly);
  const auto& owner = job.rule.owners[i];
  return owner.step * (owner.weight * solver.eigenvalues().maxCoeff() +
                       l2 / (2 * static_cast<double>(job.rule.owners.size())));
}

/// Moments ignore the clip: above this share of clipped records, runs are made.
constexpr double kClipped = .02;

}  // namespace

Prediction predict(const PilotStatistics& statistics, const AsyncJob& job, const Effort& effort) {
  if (!std::holds_alternative<learn::Squared>(statistics.loss))
    return by_runs(statistics, job, effort.threads,
                   "loss " + std::string(learn::name_of(statistics.loss)) + " is not quadratic");
  const EstimatedOn how{.rows = *statistics.rows,
                        .loss = statistics.loss,
                        .l2 = statistics.l2,
                        .norm = job.norm,
                        .limit = job.limit,
                        .threads = effort.threads};
  const Sum with = over_directions(statistics, job, false),
            without = over_directions(statistics, job, true);
  Prediction found{.predictor = "moments",
                   .why = std::string("squared loss, asynchronous") +
                          (job.curvatures.empty() ? "" : "; owners bend as their moments say"),
                   .excess = with.excess,
                   .optimisation = without.excess,
                   .distribution = with.distribution};
  const double clipped = estimate_output(how, with.distribution).clipped;
  if (effort.runs && clipped > kClipped && job.variances.size() <= kAsyncOwnersMax)
    found = by_runs(statistics, job, effort.threads, "records are clipped");
  found.clipped = clipped;
  found.stability = learn::stability(job.rule, statistics.largest_curvature);
  for (size_t i = 0; i < job.curvatures.size(); ++i)
    found.stability = std::max(found.stability, own_stability(job, i, statistics.l2));
  return found;
}

double async_excess_near(const PilotStatistics& statistics, const AsyncJob& job) {
  return over_directions(statistics, job, false).excess;
}

/// The excess is affine in the variances, hence a line in their common factor.
Response response_of(const PilotStatistics&, const AsyncJob& job, const Prediction& here) {
  double variance = 0;
  for (size_t i = 0; i < job.variances.size(); ++i)
    variance += job.rule.owners[i].weight * job.rule.owners[i].weight * job.variances[i];
  check(variance > 0);
  return Response::line(here.optimisation, (here.excess - here.optimisation) / variance);
}

}  // namespace parley::forecast
