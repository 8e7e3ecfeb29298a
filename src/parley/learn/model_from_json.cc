// Reads the model file: every key it needs is there, of the right type and finite, or an error says
// which is not. Keys it does not know are left to later versions.
#include <algorithm>
#include <type_traits>
#include <variant>

#include "parley/base/json_object.h"
#include "parley/learn/loss.h"
#include "parley/learn/model.h"
#include "parley/learn/model_words.h"

namespace parley::learn {
namespace {

Result<void> get_bounds(const JsonObject& object, double& low, double& high) {
  std::vector<double> bounds;
  TRY(object.get("bounds", bounds));
  if (bounds.size() != 2 || bounds[0] > bounds[1])
    return object.error("bounds", "must be two numbers, the lower first");
  low = bounds[0], high = bounds[1];
  return {};
}

/// Its levels are those that its factors make.
Result<void> check_product(const JsonObject& object, const std::vector<data::Column>& before,
                           data::Column& column) {
  TRY(object.get("product_of", column.product_of));
  data::Column made{.product_of = column.product_of};
  const std::string problem = data::make_product(before, made);
  if (!problem.empty()) return object.error("product_of", problem);
  if (made.levels != column.levels || made.other != column.other ||
      column.encode != data::Column::Encode::kOneHot)
    return object.error("levels", "are not those of the two columns");
  return {};
}

Result<data::Column> column_of(const JsonObject& object, const std::vector<data::Column>& before) {
  data::Column column;
  TRY(object.get("name", column.name));
  TRY(object.get("kind", column.kind, kKinds));
  if (column.kind == data::Column::Kind::kNumber) {
    TRY(get_bounds(object, column.low, column.high));
    TRY(object.get("missing", column.missing));
    TRY(object.get("log", column.log));
  } else {
    TRY(object.get("levels", column.levels));
    TRY(object.get("other", column.other));
    TRY(object.get("encode", column.encode, kEncodes));
    if (object.has("product_of")) TRY(check_product(object, before, column));
  }
  TRY(object.get("strip", column.strip));
  if (uint64_t cell = 0; object.has("cell")) {
    TRY(object.get("cell", cell));
    column.cell = static_cast<int64_t>(cell);
  }
  return column;
}

Result<data::Target> target_of(const JsonObject& object) {
  data::Target target;
  TRY(object.get("column", target.column));
  if (object.has("levels")) {
    TRY(object.get("levels", target.levels));
    if (target.levels.size() != 2) return object.error("levels", "must be two classes");
  } else {
    TRY(object.get("center", target.center));
    TRY(object.get("scale", target.scale));
    TRY(get_bounds(object, target.low, target.high));
    if (target.scale == 0) return object.error("scale", "must not be 0");
  }
  if (object.has("strip")) TRY(object.get("strip", target.strip));
  return target;
}

Result<PrivacyCard::Owner> owner_of(const JsonObject& object) {
  PrivacyCard::Owner owner;
  TRY(object.get("name", owner.name));
  TRY(object.get("rows", owner.rows));
  TRY(object.get("epsilon", owner.epsilon));
  TRY(object.get("delta", owner.delta));
  TRY(object.get("epsilon_evaluation", owner.epsilon_evaluation));
  TRY(object.get("receipts", owner.receipts));
  return owner;
}

Result<PrivacyCard> card_of(const JsonObject& object) {
  PrivacyCard card;
  TRY(object.get("private", card.is_private));
  TRY(object.get("calibration", card.calibration));
  TRY(object.get("statement", card.statement));
  TRY(object.get("adjacency", card.adjacency));
  TRY(object.get("unit", card.unit));
  TRY(object.get("unit_records", card.unit_records));
  TRY(object.get("overlap", card.overlap));
  TRY(object.get("charter", card.charter));
  TRY(object.get("protocol", card.protocol));
  TRY(object.get("mechanism", card.mechanism));
  TRY(object.has("max_row_norm") ? object.get("max_row_norm", card.max_row_norm)
                                 : object.get("max_grad_norm", card.max_grad_norm));
  TRY(object.get("norm", card.norm));
  TRY(object.get("rounds", card.rounds));
  const std::vector<JsonObject> owners = TRY(object.objects("owners"));
  for (const JsonObject& owner : owners) card.owners.push_back(TRY(owner_of(owner)));
  TRY(object.get("not_covered", card.not_covered));
  if (card.is_private && card.calibration != "sound")
    return object.error("private", "only calibration `sound` can be private");
  if (!card.is_private && card.statement.find(kNotPrivate) == std::string::npos)
    return object.error("statement", "does not say NOT PRIVATE, though the model is not");
  return card;
}

Result<Training> training_of(const JsonObject& object) {
  Training training;
  TRY(object.get("started", training.started));
  TRY(object.get("rounds", training.rounds));
  TRY(object.get("parley", training.parley));
  TRY(object.get("transcript_sha256", training.transcript_sha256));
  TRY(object.get("seed", training.seed));
  return training;
}

Result<Evaluation> evaluation_of(const JsonObject& object) {
  Evaluation evaluation;
  TRY(object.get("loss", evaluation.loss));
  TRY(object.get("loss_standard_error", evaluation.loss_error));
  TRY(object.get("loss_bound", evaluation.loss_bound));
  if (!object.has("accuracy")) return evaluation;
  TRY(object.get("accuracy", evaluation.accuracy.emplace()));
  TRY(object.get("accuracy_standard_error", evaluation.accuracy_error.emplace()));
  return evaluation;
}

Result<Distance> distance_of(const JsonObject& object) {
  Distance distance;
  TRY(object.get("norm", distance.norm));
  if (object.has("intercept_norm")) TRY(object.get("intercept_norm", distance.intercept.emplace()));
  TRY(object.get("norm_standard_error", distance.norm_error));
  TRY(object.get("rows", distance.rows));
  TRY(object.get("weights", distance.weights));
  TRY(object.get("pilot_sha256", distance.pilot));
  if (!(distance.norm_error > 0)) return object.error("norm_standard_error", "must be above 0");
  const auto is_positive = [](auto value) { return value > 0; };
  if (distance.rows.empty() || !std::ranges::all_of(distance.rows, is_positive))
    return object.error("rows", "must be numbers above 0, one for each owner in the sum");
  if (distance.weights.size() != distance.rows.size() ||
      !std::ranges::all_of(distance.weights, is_positive))
    return object.error("weights", "must be numbers above 0, as many as rows");
  return distance;
}

Result<void> get_weights(const JsonObject& object, ClassWeights& weights) {
  std::vector<double> numbers;
  TRY(object.get("class_weights", numbers));
  if (numbers.size() != 2 || !(numbers[0] > 0 && numbers[1] > 0))
    return object.error("class_weights", "must be two numbers above 0");
  weights = {numbers[0], numbers[1]};
  return {};
}

/// The loss and those constants that it has; a file without them has the defaults.
Result<Losses> loss_of(const JsonObject& object) {
  std::string name;
  TRY(object.get("loss", name));
  std::optional<Losses> loss = loss_named(name);
  if (!loss) return object.error("loss", "is not a loss that this Parley knows");
  TRY(std::visit(
      [&]<class L>(L& known) -> Result<void> {
        if constexpr (requires { known.delta; })
          if (object.has("huber_delta")) {
            TRY(object.get("huber_delta", known.delta));
            if (!(known.delta > 0)) return object.error("huber_delta", "must be above 0");
          }
        if constexpr (requires { known.weights; })
          if (object.has("class_weights")) TRY(get_weights(object, known.weights));
        return {};
      },
      *loss));
  return *loss;
}

/// The linear model itself; the schema is there already.
Result<void> get_model(const JsonObject& object, Model& model) {
  std::vector<std::string> features;
  model.loss = TRY(loss_of(object));
  TRY(object.get("theta", model.theta));
  TRY(object.get("box", model.box));
  TRY(object.get("l2", model.l2));
  TRY(object.get("prediction", model.prediction));
  TRY(object.get("features", features));
  if (model.theta.size() != features.size())
    return object.error("theta", "has " + std::to_string(model.theta.size()) + " numbers for " +
                                     std::to_string(features.size()) + " features");
  if (features != model.schema.features())
    return object.error("features", "are not those of the columns");
  return {};
}

/// The bundle, if any; it must be the one that its hash names, and made for the columns.
Result<void> get_bundle(const JsonObject& object, data::Schema& schema) {
  if (object.is_null("bundle")) return {};
  std::string hex;
  TRY(object.get("sha256", hex));
  data::Bundle bundle = TRY(data::bundle_of(TRY(object.object("bundle"))));
  if (to_hex(data::hash_of(bundle)) != hex)
    return object.error("sha256", "is not the hash of the bundle beside it");
  if (!data::check_fits(bundle, schema))
    return object.error("bundle", "was made for other columns");
  schema.bundle = std::move(bundle);
  return {};
}

Result<Model> model_of(const JsonObject& file) {
  std::string format;
  TRY(file.get("format", format));
  if (format != kModelFormat)
    return file.error("format",
                      "is not " + std::string(kModelFormat) + ", which this Parley reads");
  Model model;
  TRY(file.get("name", model.name));
  const std::vector<JsonObject> columns = TRY(file.objects("columns"));
  for (const JsonObject& column : columns)
    model.schema.columns.push_back(TRY(column_of(column, model.schema.columns)));
  model.schema.target = TRY(target_of(TRY(file.object("target"))));
  TRY(get_bundle(TRY(file.object("preprocess")), model.schema));
  const JsonObject linear = TRY(file.object("model"));
  TRY(linear.get("bias", model.schema.bias));
  TRY(get_model(linear, model));
  model.card = TRY(card_of(TRY(file.object("privacy_card"))));
  model.training = TRY(training_of(TRY(file.object("training"))));
  if (file.has("evaluation")) model.evaluation = TRY(evaluation_of(TRY(file.object("evaluation"))));
  if (file.has("distance")) model.distance = TRY(distance_of(TRY(file.object("distance"))));
  return model;
}

}  // namespace

Result<Model> model_from_json(std::string_view text, const std::string& file) {
  Model model;
  TRY(read_json(text, file, "Is this a model file, and all of it?",
                [&](const JsonObject& object) -> Result<void> {
                  model = TRY(model_of(object));
                  return {};
                }));
  return model;
}

}  // namespace parley::learn
