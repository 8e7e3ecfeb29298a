#include "parley/data/adbc/rows.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "parley/data/adbc/frames.h"
#include "parley/data/adbc/select.h"
#include "parley/data/sources/child.h"

namespace parley::data {
namespace {

using nlohmann::json;

std::string line_of(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The text of a key, or the empty one: a child may say anything.
std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A child that ends in the middle was ended by its driver.
class DriverRows {
 public:
  DriverRows(const AdbcSource& source, Child& child) : source_(source), child_(child) {}

  Result<void> open() {
    json options = json::array();
    for (const auto& [name, value] : source_.driver.options)
      options.push_back(json::array({name, value}));
    TRY(child_.say(line_of({{"parley_driver", 1},
                            {"driver", source_.driver.driver},
                            {"sha256", source_.driver.sha256},
                            {"entry", source_.driver.entry},
                            {"options", options},
                            {"setup", source_.driver.setup},
                            {"query", source_.query},
                            {"narrow", source_.dialect.has_value()},
                            {"memory_mb", source_.memory_mb}})));
    const json answer = json::parse(TRY(child_.hear_line()), nullptr, false);
    TRY(fault_in(answer));
    if (!answer.contains("columns") || !answer["columns"].is_array()) return strange();
    for (const json& each : answer["columns"]) {
      if (!each.is_object()) return strange();
      names_.push_back(text_in(each, "name"));
      const std::string kind = text_in(each, "kind");
      kinds_.push_back(kind == "text"      ? DriverKind::kText
                       : kind == "integer" ? DriverKind::kInteger
                                           : DriverKind::kOther);
    }
    return {};
  }

  Result<CountedRows> read(Intake intake, const Selection& select) {
    TRY(intake.take_header(names_, [](size_t) { return Where{}; }));
    TRY(ask(intake.positions(), select));
    uint64_t found = 0;
    cells_.assign(names_.size(), Cell{});
    std::string frame;
    while (TRY(next(frame))) {
      found += TRY(add(frame, intake));
      if (intake.failure()) return *intake.failure();
      if (select.rows && found > 2 * *select.rows + 1'000'000 && !select.where)
        return Error{Code::kInvalid,
                     "gives more than " + std::to_string(found) + " rows, the charter says " +
                         std::to_string(*select.rows),
                     "Is it the right query?"};
    }
    return std::move(intake).finish();
  }

 private:
  Error strange() const { return child_.broken("does not keep to what was agreed"); }

  Result<void> fault_in(const json& answer) const {
    if (!answer.is_object()) return strange();
    if (!answer.contains("error")) return {};
    constexpr Code kCodes[] = {Code::kInvalid, Code::kIntegrity};
    Error error{Code::kFailed,
                text_in(answer, "error"),
                text_in(answer, "hint"),
                {.key = text_in(answer, "key")}};
    for (const Code code : kCodes)
      if (text_in(answer, "code") == name_of(code)) error.code = code;
    return error;
  }

  /// Only what is looked at, each column once.
  Result<void> ask(const std::vector<size_t>& positions, const Selection& select) {
    taken_ = positions;
    std::sort(taken_.begin(), taken_.end());
    taken_.erase(std::unique(taken_.begin(), taken_.end()), taken_.end());
    json message = {{"take", taken_}};
    if (source_.dialect) {
      std::vector<std::string> columns;
      for (const size_t i : taken_) columns.push_back(names_[i]);
      auto kind = DriverKind::kOther;
      for (const size_t i : taken_)
        if (select.where && names_[i] == select.where->column) kind = kinds_[i];
      message["sql"] = narrowed_query(*source_.dialect, source_.query, columns, select.where, kind,
                                      source_.order);
    }
    return child_.say(line_of(message));
  }

  /// The next frame of records, without its kind; false at the end.
  Result<bool> next(std::string& frame) {
    uint32_t length = 0;
    char bytes[4];
    TRY(child_.hear(bytes));
    std::memcpy(&length, bytes, sizeof length);
    if (length == 0 || length > kFrameMax) return strange();
    frame.resize(length);
    TRY(child_.hear(frame));
    const char kind = frame.front();
    frame.erase(0, 1);
    if (kind == 'E') return false;
    if (kind == 'R') return true;
    if (kind != 'X') return strange();
    TRY(fault_in(json::parse(frame, nullptr, false)));
    return strange();
  }

  Result<uint64_t> add(const std::string& frame, Intake& intake) {
    auto reader = FrameReader::of(frame);
    if (!reader) return strange();
    for (uint32_t record = 0; record < reader->records(); ++record) {
      for (const size_t i : taken_)
        if (!reader->next(cells_[i])) return strange();
      intake.add([&](size_t i) { return cells_[i]; });
    }
    if (!reader->at_end()) return strange();
    return uint64_t{reader->records()};
  }

  const AdbcSource& source_;
  Child& child_;
  std::vector<std::string> names_{};
  std::vector<DriverKind> kinds_{};
  std::vector<size_t> taken_{};
  std::vector<Cell> cells_{};
};

bool has_option(const DriverSettings& driver, const std::string& name) {
  return std::any_of(driver.options.begin(), driver.options.end(),
                     [&](const auto& option) { return option.first == name; });
}

}  // namespace

void add_duckdb_options(AdbcSource& source, uint64_t threads, const std::string& folder) {
  DriverSettings& driver = source.driver;
  if (driver.entry != kDuckdbEntry) return;
  const auto add = [&](const char* name, const std::string& value) {
    if (!has_option(driver, name)) driver.options.emplace_back(name, value);
  };
  // Half for what it counts itself, the rest for batches, threads and the library.
  if (source.memory_mb > 0) add("memory_limit", std::to_string(source.memory_mb / 2) + "MiB");
  add("threads", std::to_string(threads));
  add("temp_directory", folder);
  add("autoload_known_extensions", "false");
  add("autoinstall_known_extensions", "false");
}

std::string parquet_query(const std::string& path) {
  std::string quoted = "'";
  for (const char c : path) quoted.append(c == '\'' ? 2 : 1, c);
  return "select * from read_parquet(" + quoted + "')";
}

Result<CountedRows> read_adbc(const AdbcSource& source, const Schema& schema,
                              const Selection& select, bool labels) {
  const auto child = TRY(Child::start({.command = {our_program(), "driver"},
                                       .who = "the driver's process",
                                       .key = "dataset.driver",
                                       .patience = source.patience}));
  DriverRows rows(source, *child);
  TRY(rows.open());
  return rows.read(Intake(schema, select, '.', labels), select);
}

}  // namespace parley::data
