#include "parley/model.h"

#include <cmath>
#include <utility>

#include "parley/api/internal.h"
#include "parley/api/predict.h"
#include "parley/data/sources/source.h"
#include "parley/predict.h"
#include "parley/report/predict.h"

namespace parley {
namespace {

Model handle_of(learn::Model model) {
  return Model(std::make_shared<const Model::Internal>(Model::Internal{std::move(model)}));
}

/// Of the second class; none but for the logistic loss. With class weights w the scores are log
/// odds times w2/w1.
std::vector<double> probabilities(const learn::Model& model, const std::vector<double>& scores) {
  std::vector<double> found;
  const auto* logistic = std::get_if<learn::Logistic>(&model.loss);
  if (logistic == nullptr) return found;
  const double times = logistic->weights.of(1) / logistic->weights.of(-1);
  for (const double score : scores) found.push_back(1 / (1 + times * std::exp(-score)));
  return found;
}

}  // namespace

Result<Predictions> api::predict_from(const Model& handle, const data::Source& source) {
  const learn::Model& model = handle.internal().model;
  const data::Rows rows = TRY(data::load(source, model.schema, {.labels = false})).rows;
  Predictions found{model.name, model.schema.target.column, learn::predict(model, rows)};
  if (model.schema.target.levels.size() == 2) {
    found.level = model.schema.target.levels[1];
    found.probabilities = probabilities(model, found.values);
  }
  return found;
}

Result<Model> Model::read(const std::filesystem::path& file) {
  return handle_of(TRY(learn::read_model(file)));
}

Result<Model> Model::parse(std::string_view json, const std::string& file) {
  return handle_of(TRY(learn::model_from_json(json, file)));
}

Model::Model(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}
Result<void> Model::write(const std::filesystem::path& file) const {
  return learn::write_model(file, internal().model);
}
const std::string& Model::name() const { return internal().model.name; }
const std::string& Model::target() const { return internal().model.schema.target.column; }
std::vector<std::string> Model::features() const { return internal().model.schema.features(); }
const std::vector<double>& Model::parameters() const { return internal().model.theta; }
const PrivacyCard& Model::privacy() const { return internal().model.card; }
const Training& Model::training() const { return internal().model.training; }
const std::optional<Evaluation>& Model::evaluation() const { return internal().model.evaluation; }
const std::optional<Distance>& Model::distance() const { return internal().model.distance; }
std::string Model::to_json() const { return learn::to_json(internal().model); }

Result<Predictions> predict(const Model& model, const std::filesystem::path& file,
                            const CsvSigns& signs) {
  return api::predict_from(model, data::source_of(file, signs));
}

Result<Predictions> predict(const Model& model, const Table& table) {
  return api::predict_from(model, data::source_of(table));
}

std::string Predictions::to_csv() const { return report::to_csv(*this); }
std::string Predictions::to_json() const { return report::to_json(*this); }

}  // namespace parley
