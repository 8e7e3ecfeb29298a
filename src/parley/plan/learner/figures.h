// What an owner has from outside for its four figures (learn/personal/figures.h): public rows with
// their model, and the joint model. All of it is public; what the owner adds stays with it.
#pragma once

#include <memory>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/personal/figures.h"

namespace parley::plan {

/// RMSE of a number, AUC of two classes.
learn::Measure measure_of(const charter::Charter& charter);

/// Does the job train one model of rows, with noise that protects, for all owners? Only such a
/// model can be judged on one owner's rows beside what the owner has without it.
bool one_model_for_all(const charter::Charter& charter);

/// The rows of either class; records of neither count for nothing in a job, and cannot be judged.
data::AnyRows with_class(const charter::Charter& charter, const data::AnyRows& rows);

/// All but the owner's rows. `pilot` may be null, `joint` empty.
learn::FiguresInput figures_input(const charter::Charter& charter,
                                  const std::shared_ptr<const data::Rows>& pilot,
                                  const std::vector<double>& joint);

}  // namespace parley::plan
