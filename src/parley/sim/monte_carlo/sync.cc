#include <map>

#include "parley/sim/monte_carlo/columns.h"
#include "parley/sim/monte_carlo/pass/pass.h"
#include "parley/sim/monte_carlo/quadratic.h"

namespace parley::sim::monte_carlo {
namespace {

/// The weighted mean gradients of all columns, before noise.
class Gradients {
 public:
  Gradients(const Job& job, std::span<const Column> columns) : job_(job), columns_(columns) {
    for (const Column& column : columns) {
      auto [at, is_new] = by_cell_.try_emplace(column.cell, Of{{}, Quadratic(p())});
      if (is_new) at->second.weights = weights_of(job.cells[column.cell]);
      if (is_new && job.population.quadratic())
        for (size_t i = 0; i < job.population.owners(); ++i)
          at->second.pooled.add(job.population.moments(i), at->second.weights[i]);
    }
    for (const Column& column : columns) cells_.push_back(&by_cell_.at(column.cell));
  }

  const std::vector<double>& weights(size_t column) const { return cells_[column]->weights; }

  void at(const learn::Descent& descent, std::vector<double>& out) const {
    if (!job_.population.quadratic()) return by_rows(descent, out);
    for (size_t c = 0; c < columns_.size(); ++c)
      cells_[c]->pooled.gradient(descent.theta(c).data(), &out[c * p()]);
  }

 private:
  struct Of {
    std::vector<double> weights;
    Quadratic pooled;
  };
  size_t p() const { return job_.population.columns(); }
  std::vector<double> weights_of(const Cell& cell) const {
    return cell.weights.empty() ? job_.population.shares() : cell.weights;
  }

  void by_rows(const learn::Descent& descent, std::vector<double>& out) const {
    const std::span<const double> models(descent.theta(0).data(), out.size());
    std::fill(out.begin(), out.end(), 0);
    for (size_t i = 0; i < job_.population.owners(); ++i) {
      std::vector<double> sums(out.size());
      std::visit(
          [&](const auto& rows) {
            add_gradients(job_.population.model().loss, rows, models, sums);
          },
          job_.population.packed(i));
      for (size_t c = 0; c < columns_.size(); ++c) {
        const double factor = weights(c)[i] / job_.population.rows(i);
        for (size_t j = 0; j < p(); ++j) out[c * p() + j] += factor * sums[c * p() + j];
      }
    }
  }

  const Job& job_;
  std::span<const Column> columns_;
  std::map<size_t, Of> by_cell_{};
  std::vector<const Of*> cells_{};
};

void add_noise(std::span<const double> unit, const std::vector<double>& scales,
               const std::vector<double>& weights, std::span<double> gradient) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const double factor = weights[i] * scales[i];
    const double* numbers = &unit[i * gradient.size()];
    for (size_t j = 0; j < gradient.size(); ++j) gradient[j] += factor * numbers[j];
  }
}

}  // namespace

std::vector<Finished> run_sync(const Job& job, const learn::Schedule& schedule, const Draws& draws,
                               std::span<const Column> columns, const AfterRound& after) {
  const Population& population = job.population;
  const size_t p = population.columns(), all = p * columns.size();
  learn::Descent descent(schedule, population.model().box, population.model().l2, columns.size());
  const Gradients gradients(job, columns);
  NoiseAhead noise(job, draws, columns, population.owners() * p);
  Notes notes(job, schedule.rounds.size(), columns.size());
  std::vector<double> gradient(all);
  while (!descent.finished()) {
    gradients.at(descent, gradient);
    for (size_t c = 0; c < columns.size(); ++c)
      add_noise(noise.of(c, descent.rounds_done()), job.cells[columns[c].cell].scales,
                gradients.weights(c), std::span(gradient).subspan(c * p, p));
    descent.step(gradient);
    if (notes.wanted(descent.rounds_done())) {
      const double* first = descent.average(0).data();
      notes.take(descent.rounds_done(), {first, first + all});
    }
    if (!after()) return {};
  }
  return std::move(notes).finished();
}

}  // namespace parley::sim::monte_carlo
