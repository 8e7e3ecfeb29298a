#include "parley/sim/held_out.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "parley/base/memory/parallel.h"
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

/// One owner's; models are trained on its rows in `each`.
SimulateResult::OwnFigures figures_of(const std::string& owner, const learn::FiguresInput& each,
                                      uint64_t seed) {
  SimulateResult::OwnFigures own{.owner = owner};
  auto figures = learn::owner_figures(each, {.seed = seed, .threads = 1});
  if (!figures)
    own.why_not = figures.error().what;
  else if (figures->few())
    own.why_not = std::to_string(figures->smaller_class) + " of " +
                  std::to_string(figures->judged) +
                  " rows to judge by are of the smaller class, which is too few";
  else
    own.figures = *figures;
  return own;
}

/// Of all owners, in parallel.
std::vector<SimulateResult::OwnFigures> all_figures(const SimulateInput& trained,
                                                    const std::vector<data::AnyRows>& judged_on,
                                                    const SimulateOptions& options,
                                                    const std::vector<double>& joint) {
  learn::FiguresInput common = plan::figures_input(trained.charter, trained.pilot, joint);
  if (options.log_loss) common.measure = learn::Measure::kLogLoss;
  std::vector<SimulateResult::OwnFigures> found(trained.owners.size());
  std::mutex one_at_a_time;
  each_in_parallel(options.threads, found.size(), [&](size_t i) {
    learn::FiguresInput each = common;
    each.own.rows = plan::with_class(trained.charter, trained.owners[i].rows);
    each.held_out = plan::with_class(trained.charter, judged_on[i]);
    found[i] = figures_of(trained.charter.owners[i].name, each, options.seed);
    const std::lock_guard lock(one_at_a_time);
    options.judged();
  });
  return found;
}

}  // namespace

bool has_fresh_rows(const SimulateInput& input) {
  return plan::one_model_for_all(input.charter) &&
         std::all_of(input.owners.begin(), input.owners.end(),
                     [](const OwnerData& owner) { return owner.fresh.has_value(); });
}

double held_out_part(const SimulateInput& input, const SimulateOptions& options) {
  if (!plan::one_model_for_all(input.charter) || has_fresh_rows(input)) return 0;
  if (options.held_out) return *options.held_out;
  size_t rows = 0;
  for (const OwnerData& owner : input.owners) rows += data::size_of(owner.rows);
  return rows <= kFigureRowsMax ? .2 : 0;
}

std::vector<SimulateResult::OwnFigures> fresh_figures(const SimulateInput& input,
                                                      const SimulateOptions& options,
                                                      const std::vector<double>& joint) {
  std::vector<data::AnyRows> fresh;
  for (const OwnerData& owner : input.owners) fresh.push_back(*owner.fresh);
  return all_figures(input, fresh, options, joint);
}

Result<std::vector<SimulateResult::OwnFigures>> held_out_figures(const SimulateInput& input,
                                                                 const SimulateOptions& options,
                                                                 const TrainOnce& train) {
  const Divided parts = divided(input, held_out_part(input, options), options.seed);
  return all_figures(parts.kept, parts.held_out, options, TRY(train(parts.kept)));
}

}  // namespace parley::sim
