#include "parley/report/predict.h"

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"

namespace parley::report {

namespace {

std::string csv_field(const std::string& text) {
  std::string quoted;
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  const bool plain = text.find_first_of(",\"\n\r") == std::string::npos;
  return plain ? text : "\"" + quoted + "\"";
}

}  // namespace

std::string to_csv(const Predictions& predictions) {
  const bool named = !predictions.ids.empty(), likely = !predictions.probabilities.empty();
  const std::string what = predictions.level.empty()
                               ? predictions.column
                               : (likely ? "probability of " : "score of ") + predictions.column +
                                     " = " + predictions.level;
  const std::vector<double>& shown = likely ? predictions.probabilities : predictions.values;
  std::string csv = (named ? "id," : "") + csv_field(what) + "\n";
  for (size_t i = 0; i < shown.size(); ++i)
    csv += (named ? csv_field(predictions.ids[i]) + "," : "") + shortest(shown[i]) + "\n";
  return csv;
}

std::string to_json(const Predictions& predictions) {
  nlohmann::ordered_json json = {
      {"format", "parley.predict/1"},      {"parley", provenance()},
      {"model", predictions.model},        {"column", predictions.column},
      {"rows", predictions.values.size()}, {"values", predictions.values}};
  if (!predictions.ids.empty()) json["ids"] = predictions.ids;
  if (!predictions.level.empty()) json["scores_of"] = predictions.level;
  if (!predictions.probabilities.empty()) json["probabilities"] = predictions.probabilities;
  return json.dump() + "\n";
}

}  // namespace parley::report
