#include "parley/sim/held_out.h"

#include <algorithm>
#include <utility>

#include "parley/learn/personal/folds.h"
#include "parley/plan/learner/figures.h"

namespace parley::sim {
namespace {

struct Divided {
  SimulateInput kept{};  // its charter says how many rows are left
  std::vector<data::AnyRows> held_out{};
};

/// A part of every owner's rows is held out, by the seed.
Divided divided(const SimulateInput& input, double part, uint64_t seed) {
  Divided found{.kept = input};
  for (size_t i = 0; i < input.owners.size(); ++i) {
    learn::DividedRows rows = learn::hold_out(input.owners[i].rows, part, seed + i);
    found.kept.charter.owners[i].rows = static_cast<int64_t>(data::size_of(rows.kept));
    found.kept.owners[i].rows = std::move(rows.kept);
    found.held_out.push_back(std::move(rows.held_out));
  }
  return found;
}

}  // namespace

double held_out_part(const SimulateInput& input, const SimulateOptions& options) {
  if (!plan::one_model_for_all(input.charter)) return 0;
  if (options.held_out) return *options.held_out;
  size_t rows = 0;
  for (const OwnerData& owner : input.owners) rows += data::size_of(owner.rows);
  return rows <= kFigureRowsMax ? .2 : 0;
}

Result<std::vector<SimulateResult::OwnFigures>> held_out_figures(const SimulateInput& input,
                                                                 const SimulateOptions& options,
                                                                 const TrainOnce& train) {
  const Divided parts = divided(input, held_out_part(input, options), options.seed);
  const std::vector<double> joint = TRY(train(parts.kept));
  learn::FiguresInput each = plan::figures_input(parts.kept.charter, parts.kept.pilot, joint);
  std::vector<SimulateResult::OwnFigures> found;
  for (size_t i = 0; i < input.owners.size(); ++i) {
    each.own.rows = parts.kept.owners[i].rows;
    each.held_out = parts.held_out[i];
    auto figures = learn::owner_figures(each, {.seed = options.seed, .threads = options.threads});
    SimulateResult::OwnFigures own{.owner = input.charter.owners[i].name};
    if (figures)
      own.figures = *figures;
    else
      own.why_not = figures.error().what;
    found.push_back(std::move(own));
  }
  return found;
}

}  // namespace parley::sim
