#include "parley/report/data/statement.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace parley::report {
namespace {

using data::sql::Statement;
using data::sql::Theta;
using data::sql::Value;
using nlohmann::json;

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string in_words(const std::variant<Value, Theta>& parameter) {
  if (const auto* theta = std::get_if<Theta>(&parameter))
    return "theta[" + std::to_string(theta->at) + "]";
  const Value& value = std::get<Value>(parameter);
  if (const auto* real = std::get_if<double>(&value)) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", *real);
    return hex(*real) + " = " + text;
  }
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  return json(std::get<std::string>(value)).dump();
}

json as_json(const std::variant<Value, Theta>& parameter) {
  if (const auto* theta = std::get_if<Theta>(&parameter)) return {{"theta", theta->at}};
  const Value& value = std::get<Value>(parameter);
  if (const auto* real = std::get_if<double>(&value)) return {{"real", hex(*real)}};
  if (const auto* whole = std::get_if<int64_t>(&value)) return {{"integer", *whole}};
  return {{"text", std::get<std::string>(value)}};
}

std::string to_text(const char* what, const Statement& statement) {
  std::string text = std::string("-- ") + what + ": the number of rows, then " +
                     std::to_string(statement.numbers) + " integers\n" + statement.text;
  for (size_t i = 0; i < statement.parameters.size(); ++i)
    text +=
        "-- parameter " + std::to_string(i + 1) + ": " + in_words(statement.parameters[i]) + "\n";
  return text;
}

json to_json(const Statement& statement) {
  json parameters = json::array();
  for (const auto& parameter : statement.parameters) parameters.push_back(as_json(parameter));
  return {{"text", statement.text}, {"parameters", parameters}, {"numbers", statement.numbers}};
}

}  // namespace

std::string to_text(const plan::SqlQuestions& questions, data::sql::Dialect dialect) {
  std::string text =
      "-- dialect " + std::string(name_of(dialect)) + "\n" + to_text("answer", questions.answer);
  if (questions.evaluation) text += "\n" + to_text("evaluation", *questions.evaluation);
  return text;
}

std::string to_json(const plan::SqlQuestions& questions, data::sql::Dialect dialect) {
  json all = {{"schema", "parley.sql/1"},
              {"dialect", name_of(dialect)},
              {"answer", to_json(questions.answer)}};
  if (questions.evaluation) all["evaluation"] = to_json(*questions.evaluation);
  return all.dump();
}

}  // namespace parley::report
