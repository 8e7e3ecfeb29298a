// parley predict MODEL DATA
#include "parley/report/predict.h"

#include "commands.h"
#include "parley/learn/model.h"
#include "parley/learn/source/source.h"

namespace parley::cli {

Result<Output> run(const PredictOptions& options, ProgressStyle) {
  const learn::Model model = TRY(learn::read_model(options.model));
  const learn::Rows rows = TRY(learn::load(learn::source_of(options.data, options.signs),
                                           model.schema, {.labels = false}))
                               .rows;
  const report::Predictions predictions{model.name, model.schema.target.column,
                                        learn::predict(model, rows)};
  return Output{report::to_csv(predictions), report::to_json(predictions)};
}

}  // namespace parley::cli
