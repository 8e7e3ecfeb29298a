#include "parley/data/sql/engine.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace parley::data::sql {
namespace {

using nlohmann::json;

constexpr const char* kWho = "the engine of the data set";
constexpr std::string_view kKinds[] = {"real",    "integer", "decimal", "text",
                                       "boolean", "other",   "any"};

Error broken(const std::string& what) {
  return {Code::kFailed, std::string(kWho) + " " + what,
          "Its own messages are above. Nothing was spent on this question; start again to go on."};
}

json json_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", *real);
    return {{"real", text}};
  }
  if (const auto* whole = std::get_if<int64_t>(&value))
    return {{"integer", std::to_string(*whole)}};
  return {{"text", std::get<std::string>(value)}};
}

/// The text of a key, or the empty one: a child may say anything.
std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string line_of(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<json> parsed(const std::string& line, const char* key) {
  const json answer = json::parse(line, nullptr, false);
  if (!answer.is_object()) return broken("does not speak its language");
  if (answer.contains("error") && answer["error"].is_string())
    return Error{
        answer.value("/invalid"_json_pointer, json()) == true ? Code::kInvalid : Code::kFailed,
        answer["error"].get<std::string>(),
        "",
        {.key = "dataset.query"}};
  if (!answer.contains(key) || !answer[key].is_array())
    return broken("does not speak its language");
  return answer[key];
}

Result<std::vector<TableColumn>> columns_in(const json& list) {
  std::vector<TableColumn> columns;
  for (const json& each : list) {
    if (!each.is_object()) return broken("names no columns");
    const std::string kind = text_in(each, "kind");
    const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (found == std::end(kKinds)) return broken("names a column of no kind");
    columns.push_back({text_in(each, "name"), static_cast<Kind>(found - std::begin(kKinds))});
  }
  return columns;
}

Result<int64_t> number_in(const json& each) {
  if (!each.is_string()) return broken("gave something else than a number");
  const auto text = each.get<std::string>();
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size())
    return broken("gave something else than a number");
  return number;
}

}  // namespace

Result<std::shared_ptr<Engine>> Engine::start(const EngineSettings& settings) {
  std::vector<std::string> command = settings.command;
  if (command.empty()) command = {our_program(), "engine"};
  auto child = TRY(Child::start({.command = std::move(command),
                                 .who = kWho,
                                 .key = "dataset.command",
                                 .patience = settings.patience,
                                 .stop = settings.stop}));
  const std::shared_ptr<Engine> engine(new Engine(settings.dialect, std::move(child)));
  TRY(engine->child_->say(line_of({{"parley_engine", 1},
                                   {"dialect", name_of(settings.dialect)},
                                   {"path", settings.path},
                                   {"dsn", settings.dsn},
                                   {"query", settings.query}})));
  engine->columns_ = TRY(columns_in(TRY(parsed(TRY(engine->child_->hear_line()), "columns"))));
  return engine;
}

Result<std::vector<int64_t>> Engine::ask(const Statement& statement,
                                         std::span<const double> theta) {
  json parameters = json::array();
  for (const Value& value : statement.values_at(theta)) parameters.push_back(json_of(value));
  const json question = {{"text", statement.text}, {"parameters", std::move(parameters)}};
  const std::lock_guard lock(mutex_);
  TRY(child_->say(line_of(question)));
  const std::string line = TRY(child_->hear_line());
  std::vector<int64_t> numbers;
  for (const json& each : TRY(parsed(line, "numbers"))) numbers.push_back(TRY(number_in(each)));
  if (numbers.size() != statement.numbers + 1) return broken("gave another count of numbers");
  return numbers;
}

}  // namespace parley::data::sql
