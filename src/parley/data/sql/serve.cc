#include <cstdlib>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "parley/data/sql/engine.h"

namespace parley::data::sql {
namespace {

using nlohmann::json;

json error_line(const Error& error) {
  return {{"error", error.what}, {"invalid", error.code == Code::kInvalid}};
}

Result<Value> value_in(const json& each) {
  const auto text = [&](const char* key) { return each.value(key, std::string()); };
  if (each.contains("real")) return Value(std::strtod(text("real").c_str(), nullptr));
  if (each.contains("integer"))
    return Value(static_cast<int64_t>(std::strtoll(text("integer").c_str(), nullptr, 10)));
  return Value(text("text"));
}

Result<json> open(const json& hello, std::unique_ptr<Runner>& runner) {
  static constexpr const char* kKinds[] = {"real",    "integer", "decimal", "text",
                                           "boolean", "other",   "any"};
  const std::string dialect = hello.value("dialect", "");
  if (dialect == "postgresql")
    runner = TRY(open_postgresql(hello.value("dsn", "")));
  else if (dialect == "sqlite")
    runner = TRY(open_sqlite(hello.value("path", "")));
  else
    return Error{Code::kInvalid, "this engine runs sqlite and postgresql, not " + dialect};
  json columns = json::array();
  for (const TableColumn& column : TRY(runner->describe(hello.value("query", ""))))
    columns.push_back({{"name", column.name}, {"kind", kKinds[static_cast<size_t>(column.kind)]}});
  return json{{"columns", columns}};
}

Result<json> answer(const json& question, Runner& runner) {
  std::vector<Value> values;
  for (const json& each : question.value("parameters", json::array()))
    values.push_back(TRY(value_in(each)));
  json numbers = json::array();
  for (const int64_t number : TRY(runner.run(question.value("text", ""), values)))
    numbers.push_back(std::to_string(number));
  return json{{"numbers", numbers}};
}

}  // namespace

void serve_engine(std::istream& in, std::ostream& out) {
  std::unique_ptr<Runner> runner;
  for (std::string line; std::getline(in, line);) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) return;
    const auto reply = runner ? answer(said, *runner) : open(said, runner);
    out << (reply ? *reply : error_line(reply.error()))
               .dump(-1, ' ', false, json::error_handler_t::replace)
        << std::endl;
  }
}

}  // namespace parley::data::sql
