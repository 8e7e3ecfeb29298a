#include "parley/sim/held_out.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/learn/personal/folds.h"
#include "parley/learn/schedule/weights.h"
#include "parley/plan/learner/pilot.h"

namespace parley::sim {
namespace {

using charter::Charter;

struct Divided {
  SimulateInput kept{};  // its charter says how many rows are left
  std::vector<data::AnyRows> held_out{};
};

/// The rows with use[i], as rows of the same kind.
std::shared_ptr<const data::Rows> chosen(const data::Rows& rows, const std::vector<bool>& use) {
  auto found = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i)
    if (use[i]) found->add(rows.row(i), rows.label(i));
  return found;
}

std::shared_ptr<const data::SparseRows> chosen(const data::SparseRows& rows,
                                               const std::vector<bool>& use) {
  auto found = std::make_shared<data::SparseRows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i)
    if (use[i]) found->add(rows.row_indices(i), rows.row_values(i), rows.label(i));
  return found;
}

data::AnyRows chosen(const data::AnyRows& rows, const std::vector<bool>& use) {
  return std::visit([&](const auto& kind) { return data::AnyRows(chosen(*kind, use)); }, rows);
}

/// One fold of about 1/part is held out, by the seed.
Divided divided(const SimulateInput& input, double part, uint64_t seed) {
  Divided found{.kept = input};
  for (size_t i = 0; i < input.owners.size(); ++i) {
    const data::AnyRows& rows = input.owners[i].rows;
    const size_t all = data::size_of(rows);
    const auto folds = static_cast<size_t>(std::llround(1 / part));
    const auto fold = learn::fold_of_rows(all, std::min(folds, all), seed + i, 0);
    std::vector<bool> kept(all), out(all);
    for (size_t k = 0; k < all; ++k) out[k] = all > 1 && fold[k] == 0, kept[k] = !out[k];
    found.held_out.push_back(chosen(rows, out));
    found.kept.owners[i].rows = chosen(rows, kept);
    found.kept.charter.owners[i].rows =
        static_cast<int64_t>(data::size_of(found.kept.owners[i].rows));
  }
  return found;
}

learn::Measure measure_of(const Charter& charter) {
  return charter.schema.target.levels.empty() ? learn::Measure::kRmse : learn::Measure::kAuc;
}

/// What every owner has from outside: public rows with their model, and the joint model.
learn::FiguresInput from_outside(const SimulateInput& kept, const std::vector<double>& joint) {
  const Charter& charter = kept.charter;
  learn::FiguresInput input{
      .pilot = kept.pilot, .measure = measure_of(charter), .scale = charter.schema.target.scale};
  input.own.loss = charter::loss_of(charter.model);
  const size_t columns = charter.schema.features().size();
  if (charter.schema.bias) input.own.bias = columns - 1;
  input.own.joint = joint;
  if (!kept.pilot) return input;
  const data::Rows& pilot = *kept.pilot;
  input.own.pilot = plan::pilot_optimum(charter, pilot);
  input.own.hessian = learn::smoothed_hessian(input.own.loss, pilot, input.own.pilot,
                                              learn::ClipIn::kNone, 0, charter.model.l2);
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  const auto model = learn::error_model(
      learn::constant_step(1, 1, learn::Average::kNone, std::vector<double>(columns)),
      input.own.loss, pilot, input.own.pilot, learn::ClipIn::kNone, 0, charter.model.l2);
  if (model) input.own.joint_optimism = 2 * model->spread / rows;
  return input;
}

bool one_model_for_all(const Charter& charter) {
  return charter.central() && !charter.records &&
         charter.privacy.calibration == charter::Calibration::kSound &&
         (!charter.protocol.learners.owner ||
          charter.protocol.learners.owner == charter::OwnerLearner::kOwnNoise);
}

}  // namespace

double held_out_part(const SimulateInput& input, const SimulateOptions& options) {
  if (!one_model_for_all(input.charter)) return 0;
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
  learn::FiguresInput each = from_outside(parts.kept, joint);
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
