#include "parley/report/predict.h"

#include <nlohmann/json.hpp>

#include "parley/base/number.h"
#include "parley/base/version.h"

namespace parley::report {

std::string to_csv(const Predictions& predictions) {
  std::string quoted;
  for (char c : predictions.column) quoted += c == '"' ? "\"\"" : std::string(1, c);
  const bool plain = predictions.column.find_first_of(",\"\n\r") == std::string::npos;
  std::string csv = (plain ? predictions.column : "\"" + quoted + "\"") + "\n";
  for (double value : predictions.values) csv += shortest(value) + "\n";
  return csv;
}

std::string to_json(const Predictions& predictions) {
  const nlohmann::ordered_json json = {
      {"format", "parley.predict/1"},      {"parley", kVersion},
      {"model", predictions.model},        {"column", predictions.column},
      {"rows", predictions.values.size()}, {"values", predictions.values}};
  return json.dump() + "\n";
}

}  // namespace parley::report
