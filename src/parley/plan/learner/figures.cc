#include "parley/plan/learner/figures.h"

#include "parley/learn/personal/folds.h"
#include "parley/learn/schedule/weights.h"
#include "parley/plan/learner/pilot.h"

namespace parley::plan {
namespace {

using charter::Charter;

/// tr(H^-1 S) / N of all owners' rows; 0 where the pilot does not tell.
double joint_optimism(const Charter& charter, const data::Rows& pilot,
                      const learn::PersonalInput& own) {
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  const auto model = learn::error_model(
      learn::constant_step(1, 1, learn::Average::kNone, std::vector<double>(own.pilot.size())),
      own.loss, pilot, own.pilot, learn::ClipIn::kNone, 0, charter.model.l2);
  return model ? 2 * model->spread / rows : 0;
}

}  // namespace

learn::Measure measure_of(const Charter& charter) {
  return charter.schema.target.levels.empty() ? learn::Measure::kRmse : learn::Measure::kAuc;
}

bool one_model_for_all(const Charter& charter) {
  const auto& how = charter.protocol.learners.owner;
  return charter.central() && !charter.records && !charter.protocol.distance() &&
         charter.privacy.calibration == charter::Calibration::kSound &&
         (!how || how == charter::OwnerLearner::kOwnNoise);
}

data::AnyRows with_class(const Charter& charter, const data::AnyRows& rows) {
  if (charter.schema.target.levels.empty()) return rows;
  std::vector<bool> known;
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i) known.push_back(kind->label(i) != 0);
      },
      rows);
  return learn::chosen_rows(rows, known);
}

learn::FiguresInput figures_input(const Charter& charter,
                                  const std::shared_ptr<const data::Rows>& pilot,
                                  const std::vector<double>& joint) {
  learn::FiguresInput input{
      .pilot = pilot, .measure = measure_of(charter), .scale = charter.schema.target.scale};
  input.own.loss = charter::loss_of(charter.model);
  input.own.bias = charter.schema.bias_at();
  input.own.joint = joint;
  if (!pilot) return input;
  input.own.pilot = pilot_optimum(charter, *pilot);
  input.own.hessian = learn::smoothed_hessian(input.own.loss, *pilot, input.own.pilot,
                                              learn::ClipIn::kNone, 0, charter.model.l2);
  input.own.joint_optimism = joint_optimism(charter, *pilot, input.own);
  return input;
}

}  // namespace parley::plan
