#include "parley/sim/monte_carlo/population.h"

#include <algorithm>

#include "parley/base/result.h"
#include "parley/learn/solver/solvers.h"
#include "parley/sim/monte_carlo/pass/pass.h"

namespace parley::sim::monte_carlo {
namespace {

bool squared(const Model& model) { return std::holds_alternative<learn::Squared>(model.loss); }

}  // namespace

Population::Population(Model model, size_t columns, Precision precision, int threads)
    : model_(std::move(model)),
      columns_(columns),
      precision_(precision),
      threads_(threads),
      pooled_(columns),
      fitness_(model_.loss, columns, model_.l2, threads) {}

bool Population::quadratic() const {
  return squared(model_) && model_.clip == learn::ClipIn::kNone;
}

void Population::add(const data::Rows& rows) {
  check(rows.columns() == columns_ && rows.size() > 0);
  optimum_.reset();
  if (squared(model_)) {
    learn::Moments moments(columns_);
    moments.add(rows, threads_);
    pooled_.add(moments);
    moments_.push_back(std::move(moments));
  } else {
    fitness_.add(rows);
  }
  if (!quadratic())
    packed_.push_back(pack(model_.loss, rows, model_.clip, model_.limit, precision_));
}

void Population::add(const learn::Moments& moments) {
  check(quadratic() && moments.columns() == columns_ && moments.rows() > 0);
  optimum_.reset();
  pooled_.add(moments);
  moments_.push_back(moments);
}

double Population::rows(size_t owner) const {
  if (!moments_.empty()) return static_cast<double>(moments_[owner].rows());
  return std::visit([](const auto& rows) { return static_cast<double>(rows.rows()); },
                    packed_[owner]);
}

std::vector<double> Population::shares() const {
  std::vector<double> shares(owners());
  double all = 0;
  for (size_t i = 0; i < shares.size(); ++i) all += shares[i] = rows(i);
  for (double& share : shares) share /= all;
  return shares;
}

const learn::Optimum& Population::optimum() const {
  constexpr double kFar = 1e4;  // Gaps are measured over a box, so that there must be one.
  const double box = std::min(model_.box, kFar);
  if (!optimum_)
    optimum_ =
        squared(model_) ? learn::squared_optimum(pooled_, model_.l2, box) : fitness_.minimum(box);
  return *optimum_;
}

std::vector<double> Population::relative(std::span<const double> models) const {
  const size_t p = columns_, count = models.size() / p;
  std::vector<double> fitness(count);
  if (squared(model_)) {
    for (size_t r = 0; r < count; ++r) fitness[r] = pooled_.value(models.subspan(r * p, p));
  } else {
    double rows = 0;
    for (const Packed& packed : packed_)
      std::visit(
          [&](const auto& kind) {
            add_values(model_.loss, kind, models, fitness);
            rows += static_cast<double>(kind.rows());
          },
          packed);
    for (double& value : fitness) value /= rows;
  }
  for (size_t r = 0; r < count; ++r) {
    double squares = 0;
    for (double value : models.subspan(r * p, p)) squares += value * value;
    fitness[r] = (fitness[r] + model_.l2 / 2 * squares) / optimum().fitness - 1;
  }
  return fitness;
}

}  // namespace parley::sim::monte_carlo
