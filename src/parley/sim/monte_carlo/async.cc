#include <algorithm>
#include <cmath>

#include "parley/sim/monte_carlo/columns.h"
#include "parley/sim/monte_carlo/pass.h"
#include "parley/sim/monte_carlo/quadratic.h"

namespace parley::sim::monte_carlo {
namespace {

/// Whose turn it is, in one run.
class Turns {
 public:
  explicit Turns(const Async& async) : async_(async), left_(async.caps) {
    for (const auto& owner : async.rule.owners) {
      rates_.push_back(async.rule.step / owner.step);
      all_ += rates_.back();
    }
  }

  /// Owner i if u lies in its part of those that still come.
  size_t next(double u) {
    const size_t owner = pick(u * all_);
    if (!left_.empty() && --left_[owner] == 0) all_ -= std::exchange(rates_[owner], 0);
    return owner;
  }

 private:
  size_t pick(double place) const {
    size_t last = 0;  // Rounding may lead past the end.
    for (size_t i = 0; i < rates_.size(); ++i) {
      if (rates_[i] == 0) continue;
      last = i;
      if (place < rates_[i]) return i;
      place -= rates_[i];
    }
    return last;
  }

  const Async& async_;
  std::vector<uint32_t> left_;
  std::vector<double> rates_{};
  double all_ = 0;
};

/// Mean gradients of the owner that each column asks.
class OwnerGradients {
 public:
  explicit OwnerGradients(const Population& population) : population_(population) {
    if (!population.quadratic()) return;
    for (size_t i = 0; i < population.owners(); ++i) {
      quadratics_.emplace_back(population.columns());
      quadratics_.back().add(population.moments(i), 1);
    }
  }

  void at(std::span<const size_t> owners, const std::vector<double>& points,
          std::vector<double>& out) const {
    const size_t p = population_.columns();
    if (!population_.quadratic()) return by_rows(owners, points, out);
    for (size_t c = 0; c < owners.size(); ++c)
      quadratics_[owners[c]].gradient(&points[c * p], &out[c * p]);
  }

 private:
  /// Columns that ask the same owner share one pass over its rows.
  void by_rows(std::span<const size_t> owners, const std::vector<double>& points,
               std::vector<double>& out) const {
    std::vector<size_t> order(owners.size());
    for (size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return owners[a] < owners[b]; });
    for (size_t first = 0, end = 0; first < order.size(); first = end) {
      while (end < order.size() && owners[order[end]] == owners[order[first]]) ++end;
      pass(owners[order[first]], std::span(order).subspan(first, end - first), points, out);
    }
  }

  void pass(size_t owner, std::span<const size_t> columns, const std::vector<double>& points,
            std::vector<double>& out) const {
    const size_t p = population_.columns();
    std::vector<double> models, sums(columns.size() * p);
    for (size_t c : columns) models.insert(models.end(), &points[c * p], &points[c * p] + p);
    std::visit(
        [&](const auto& rows) {
          add_gradients_by_rows(population_.model().loss, rows, models, sums);
        },
        population_.packed(owner));
    for (size_t k = 0; k < columns.size(); ++k)
      for (size_t j = 0; j < p; ++j)
        out[columns[k] * p + j] = sums[k * p + j] / population_.rows(owner);
  }

  const Population& population_;
  std::vector<Quadratic> quadratics_{};
};

}  // namespace

std::vector<Finished> run_async(const Job& job, const Async& async, const Draws& draws,
                                std::span<const Column> columns, const AfterRound& after) {
  const size_t p = job.population.columns();
  std::vector<learn::AsyncDescent> descents(columns.size(), learn::AsyncDescent(async.rule));
  std::vector<Turns> turns(columns.size(), Turns(async));
  const OwnerGradients gradients(job.population);
  NoiseAhead noise(job, draws, columns, p);
  Notes notes(job, async.rule.rounds, columns.size());
  std::vector<size_t> owners(columns.size());
  std::vector<double> points(p * columns.size()), answers(points.size());
  for (uint64_t round = 0; round < async.rule.rounds; ++round) {
    for (size_t c = 0; c < columns.size(); ++c) {
      const uint64_t stream = job.cells[columns[c].cell].stream;
      owners[c] = turns[c].next(draws.turn(stream, columns[c].run, round));
      const std::vector<double> middle = descents[c].middle(owners[c]);
      std::copy(middle.begin(), middle.end(), &points[c * p]);
    }
    gradients.at(owners, points, answers);
    for (size_t c = 0; c < columns.size(); ++c) {
      const double scale = job.cells[columns[c].cell].scales[owners[c]];
      const std::span<const double> unit = noise.of(c, round);
      for (size_t j = 0; j < p; ++j) answers[c * p + j] += scale * unit[j];
      descents[c].step(owners[c], std::span(answers).subspan(c * p, p));
    }
    if (notes.wanted(round + 1)) {
      std::vector<double> models;
      for (const learn::AsyncDescent& descent : descents) {
        const std::vector<double> output = descent.output();
        models.insert(models.end(), output.begin(), output.end());
      }
      notes.take(round + 1, std::move(models));
    }
    if (!after()) return {};
  }
  return std::move(notes).finished();
}

}  // namespace parley::sim::monte_carlo
