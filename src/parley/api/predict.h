// predict() for records of any source.
#pragma once

#include "parley/data/sources/source.h"
#include "parley/predict.h"

namespace parley::api {

Result<Predictions> predict_from(const Model& model, const data::Source& source);

}  // namespace parley::api
