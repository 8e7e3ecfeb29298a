#include <algorithm>
#include <utility>

#include "parley/sim/monte_carlo/columns.h"
#include "parley/sim/monte_carlo/pass/pass.h"
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

/// All columns, round by round.
class AsyncColumns {
 public:
  AsyncColumns(const Job& job, const Async& async, const Draws& draws,
               std::span<const Column> columns)
      : job_(job),
        draws_(draws),
        columns_(columns),
        p_(job.population.columns()),
        descents_(columns.size(), learn::AsyncDescent(async.rule)),
        turns_(columns.size(), Turns(async)),
        gradients_(job.population),
        noise_(job, draws, columns, p_),
        owners_(columns.size()),
        points_(p_ * columns.size()),
        answers_(points_.size()) {}

  void step(uint64_t round) {
    ask(round);
    gradients_.at(owners_, points_, answers_);
    for (size_t c = 0; c < columns_.size(); ++c) {
      const double scale = cell(c).scales[owners_[c]];
      const std::span<const double> unit = noise_.of(c, round);
      const auto answer = std::span(answers_).subspan(c * p_, p_);
      for (size_t j = 0; j < p_; ++j) answer[j] += scale * unit[j];
      descents_[c].step(owners_[c], answer);
    }
  }

  /// One after the other.
  std::vector<double> outputs() const {
    std::vector<double> models;
    for (const learn::AsyncDescent& descent : descents_) {
      const std::vector<double> output = descent.output();
      models.insert(models.end(), output.begin(), output.end());
    }
    return models;
  }

 private:
  const Cell& cell(size_t column) const { return job_.cells[columns_[column].cell]; }

  void ask(uint64_t round) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      owners_[c] = turns_[c].next(draws_.turn(cell(c).stream, columns_[c].run, round));
      const std::vector<double> middle = descents_[c].middle(owners_[c]);
      std::copy(middle.begin(), middle.end(), &points_[c * p_]);
    }
  }

  const Job& job_;
  const Draws& draws_;
  std::span<const Column> columns_;
  size_t p_;
  std::vector<learn::AsyncDescent> descents_;
  std::vector<Turns> turns_;
  OwnerGradients gradients_;
  NoiseAhead noise_;
  std::vector<size_t> owners_;  // who comes in this round, by column
  std::vector<double> points_, answers_;
};

}  // namespace

std::vector<Finished> run_async(const Job& job, const Async& async, const Draws& draws,
                                std::span<const Column> columns, const AfterRound& after) {
  AsyncColumns all(job, async, draws, columns);
  Notes notes(job, async.rule.rounds, columns.size());
  for (uint64_t round = 0; round < async.rule.rounds; ++round) {
    all.step(round);
    if (notes.wanted(round + 1)) notes.take(round + 1, all.outputs());
    if (!after()) return {};
  }
  return std::move(notes).finished();
}

}  // namespace parley::sim::monte_carlo
