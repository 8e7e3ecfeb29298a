#include "parley/learn/model.h"

#include <nlohmann/json.hpp>

#include "parley/base/files.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/model_words.h"

namespace parley::learn {
namespace {

using OrderedJson = nlohmann::ordered_json;  // Keys stay in the order in which people read them.

OrderedJson to_json(const data::Column& column) {
  OrderedJson json{{"name", column.name}, {"kind", kKinds[static_cast<size_t>(column.kind)]}};
  if (column.kind == data::Column::Kind::kNumber) {
    json["bounds"] = {column.low, column.high};
    json["missing"] = column.missing;
    json["log"] = column.log;
  } else {
    json["levels"] = column.levels;
    json["other"] = column.other;
    json["encode"] = kEncodes[static_cast<size_t>(column.encode)];
  }
  if (column.is_product()) json["product_of"] = column.product_of;
  json["strip"] = column.strip;
  if (column.cell > 0) json["cell"] = column.cell;
  return json;
}

OrderedJson to_json(const data::Target& target) {
  OrderedJson json{{"column", target.column}};
  if (target.levels.empty()) {
    json["center"] = target.center;
    json["scale"] = target.scale;
    json["bounds"] = {target.low, target.high};
  } else {
    json["levels"] = target.levels;
  }
  if (!target.strip.empty()) json["strip"] = target.strip;
  return json;
}

/// The whole bundle, so that a prediction needs no other file.
OrderedJson to_json(const std::optional<data::Bundle>& bundle) {
  if (!bundle) return {{"sha256", nullptr}, {"bundle", nullptr}};
  return {{"sha256", to_hex(data::hash_of(*bundle))},
          {"bundle", OrderedJson::parse(to_json(*bundle))}};
}

/// The mark belongs to the card, so no caller can forget it.
std::string marked_statement(const PrivacyCard& card) {
  const bool marked = card.statement.find(kNotPrivate) != std::string::npos;
  if (card.is_private || marked) return card.statement;
  return std::string(kNotPrivate) + (card.statement.empty() ? "" : ". ") + card.statement;
}

OrderedJson to_json(const PrivacyCard& card) {
  const bool short_rows = card.max_row_norm > 0;
  OrderedJson json{{"private", card.is_private},
                   {"calibration", card.calibration},
                   {"statement", marked_statement(card)},
                   {"adjacency", card.adjacency},
                   {"unit", card.unit},
                   {"unit_records", card.unit_records},
                   {"overlap", card.overlap},
                   {"charter", card.charter},
                   {"protocol", card.protocol},
                   {"mechanism", card.mechanism},
                   {short_rows ? "max_row_norm" : "max_grad_norm",
                    short_rows ? card.max_row_norm : card.max_grad_norm},
                   {"norm", card.norm},
                   {"rounds", card.rounds},
                   {"owners", OrderedJson::array()},
                   {"not_covered", card.not_covered}};
  for (const PrivacyCard::Owner& owner : card.owners)
    json["owners"].push_back({{"name", owner.name},
                              {"rows", owner.rows},
                              {"epsilon", owner.epsilon},
                              {"delta", owner.delta},
                              {"epsilon_evaluation", owner.epsilon_evaluation},
                              {"receipts", owner.receipts}});
  return json;
}

OrderedJson to_json(const Losses& loss) {
  OrderedJson json{{"loss", name_of(loss)}};
  std::visit(
      [&]<class L>(const L& known) {
        if constexpr (requires { known.delta; }) json["huber_delta"] = known.delta;
        if constexpr (requires { known.weights; })
          json["class_weights"] = {known.weights.negative, known.weights.positive};
      },
      loss);
  return json;
}

OrderedJson to_json(const Training& training) {
  OrderedJson json{{"started", training.started},
                   {"rounds", training.rounds},
                   {"parley", training.parley},
                   {"transcript_sha256", nullptr},
                   {"seed", nullptr}};
  if (training.transcript_sha256) json["transcript_sha256"] = *training.transcript_sha256;
  if (training.seed) json["seed"] = *training.seed;
  return json;
}

OrderedJson to_json(const Evaluation& evaluation) {
  OrderedJson json{{"loss", evaluation.loss},
                   {"loss_standard_error", evaluation.loss_error},
                   {"loss_bound", evaluation.loss_bound}};
  if (evaluation.accuracy) json["accuracy"] = *evaluation.accuracy;
  if (evaluation.accuracy_error) json["accuracy_standard_error"] = *evaluation.accuracy_error;
  return json;
}

OrderedJson to_json(const Distance& distance) {
  OrderedJson json = {{"norm", distance.norm}};
  if (distance.intercept) json["intercept_norm"] = *distance.intercept;
  json.update({{"norm_standard_error", distance.norm_error},
               {"rows", distance.rows},
               {"weights", distance.weights},
               {"pilot_sha256", distance.pilot}});
  return json;
}

}  // namespace

std::string to_json(const Model& model) {
  OrderedJson json{{"format", kModelFormat}, {"name", model.name}};
  json["model"] = to_json(model.loss);
  json["model"].update({{"theta", model.theta},
                        {"bias", model.schema.bias},
                        {"box", model.box},
                        {"l2", model.l2},
                        {"prediction", model.prediction},
                        {"features", model.schema.features()}});
  json["preprocess"] = to_json(model.schema.bundle);
  json["columns"] = OrderedJson::array();
  for (const data::Column& column : model.schema.columns)
    json["columns"].push_back(to_json(column));
  json["target"] = to_json(model.schema.target);
  json["privacy_card"] = to_json(model.card);
  if (model.evaluation) json["evaluation"] = to_json(*model.evaluation);
  if (model.distance) json["distance"] = to_json(*model.distance);
  json["training"] = to_json(model.training);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<Model> read_model(const std::filesystem::path& path) {
  return model_from_json(TRY(read_file(path)), path.string());
}

Result<void> write_model(const std::filesystem::path& path, const Model& model) {
  const std::string text = to_json(model);
  TRY(model_from_json(text, path.string()));
  return write_file(path, text);
}

namespace {

double score_of(const std::vector<double>& theta, const data::Rows& rows, size_t i) {
  double score = 0;
  for (size_t j = 0; j < theta.size(); ++j) score += theta[j] * rows.row(i)[j];
  return score;
}

double score_of(const std::vector<double>& theta, const data::SparseRows& rows, size_t i) {
  double score = 0;
  const auto at = rows.row_indices(i);
  for (size_t k = 0; k < at.size(); ++k) score += theta[at[k]] * rows.row_values(i)[k];
  return score;
}

std::span<const double> values_of(const data::Rows& rows, size_t i) { return rows.row(i); }
std::span<const double> values_of(const data::SparseRows& rows, size_t i) {
  return rows.row_values(i);
}

/// Records that federated training would have shrunk are shrunk here, too.
template <class SomeRows>
double shrinking(const Model& model, const SomeRows& rows, size_t i) {
  const bool shrinks = model.card.protocol == "federated" && model.card.max_row_norm > 0;
  return shrinks ? shrink_factor(values_of(rows, i), model.card.max_row_norm) : 1;
}

template <class SomeRows>
std::vector<double> predict_each(const Model& model, const SomeRows& rows) {
  check(rows.columns() == model.theta.size());
  const data::Target& target = model.schema.target;
  std::vector<double> values(rows.size());
  data::by_window(rows, 0, rows.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      values[i] = target.center +
                  target.scale * (score_of(model.theta, rows, i) * shrinking(model, rows, i));
  });
  return values;
}

}  // namespace

std::vector<double> predict(const Model& model, const data::Rows& rows) {
  return predict_each(model, rows);
}

std::vector<double> predict(const Model& model, const data::SparseRows& rows) {
  return predict_each(model, rows);
}

}  // namespace parley::learn
