#include "parley/api/c/call.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "parley/api/internal.h"
#include "parley/base/bytes.h"
#include "parley/base/files.h"
#include "parley/base/printable.h"

namespace parley::api {

Call::Call(const nlohmann::json& arguments, const Tables& tables, Progress progress)
    : json_(arguments),
      object_(arguments, "arguments"),
      tables_(tables),
      progress_(std::move(progress)) {}

Result<void> Call::only(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : json_.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string names;
      for (const auto name : known) names += (names.empty() ? "" : ", ") + std::string(name);
      return Error{Code::kInvalid,
                   "is no argument of this command",
                   "There are: " + names + ".",
                   {.file = "arguments", .key = printable(key)}};
    }
  return {};
}

bool Call::has(std::string_view key) const { return object_.has(key) && !object_.is_null(key); }

Result<void> Call::take(std::string_view key, std::filesystem::path& value) const {
  std::string text;
  TRY(take(key, text));
  if (!text.empty()) value = text;
  return {};
}

Result<void> Call::take(std::string_view key, int& value) const {
  uint64_t number = 0;
  if (!has(key)) return {};
  TRY(object_.get(key, number));
  if (number > 1024) return object_.error(key, "must not be above 1024");
  value = static_cast<int>(number);
  return {};
}

Result<std::vector<double>> Call::numbers(std::string_view key) const {
  std::vector<double> found;
  if (has(key) && json_[std::string(key)].is_number()) {
    TRY(object_.get(key, found.emplace_back()));
    return found;
  }
  TRY(take(key, found));
  return found;
}

Result<std::vector<std::pair<std::string, std::string>>> Call::texts(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> found;
  if (!has(key)) return found;
  const nlohmann::json& object = json_[std::string(key)];
  if (!object.is_object()) return object_.error(key, "must be an object of texts");
  for (const auto& [name, value] : object.items())
    found.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  return found;
}

Result<std::vector<Override>> Call::changes() {
  std::vector<Override> changes;
  for (auto& [key, value] : TRY(texts("set"))) changes.push_back({key, value});
  TRY(write_public(changes));
  return changes;
}

/// The pilot as a file, which the charter then names.
Result<void> Call::write_public(std::vector<Override>& changes) {
  if (!has("public")) return {};
  std::string table;
  TRY(take("public", table));
  const auto cells = TRY(tables_.find(table));
  const std::string text = data::to_csv(*cells);
  folder_.emplace(TRY(TemporaryFolder::make()));
  TRY(write_file(folder_->path() / "pilot.csv", text));
  changes.push_back({"pilot.file", "pilot.csv"});
  changes.push_back({"pilot.sha256", "\"" + to_hex(sha256(as_bytes(text))) + "\""});
  changes.push_back({"pilot.rows", std::to_string(cells->rows())});
  return {};
}

Result<Charter> Call::charter() {
  if (has("charter") == has("charter_file"))
    return Error{Code::kInvalid, "give either charter, its text, or charter_file"};
  auto change = TRY(changes());
  if (has("charter_file") && !folder_) {
    std::filesystem::path file;
    TRY(take("charter_file", file));
    return Charter::read(file, std::move(change));
  }
  std::string text;
  std::filesystem::path file, folder = ".";
  TRY(take("charter", text));
  TRY(take("charter_file", file));
  if (!file.empty()) text = TRY(read_file(file));
  TRY(take("folder", folder));
  if (!folder_) return Charter::parse(text, std::move(change), folder);
  const Charter charter = TRY(Charter::parse(text, std::move(change), folder_->path()));
  TRY(bring_bundle(charter, folder));
  return charter;
}

/// The pilot is a table, and the bundle that was made from it a file, which may be in the folder.
Result<void> Call::bring_bundle(const Charter& charter, const std::filesystem::path& folder) {
  const auto& preprocess = charter.internal().charter.preprocess;
  if (!preprocess || !std::filesystem::exists(folder / preprocess->bundle)) return {};
  const std::filesystem::path here = folder_->path() / preprocess->bundle;
  TRY(make_directories(here.parent_path()));
  return write_file(here, TRY(read_file(folder / preprocess->bundle)));
}

OnProgress Call::leaving() const {
  return [this, said = heard()](uint64_t done, uint64_t total) {
    said(done, total);
    if (stopping_.stop_requested() && std::this_thread::get_id() == caller_) throw Stopped();
  };
}

OnProgress Call::heard() const {
  return [this](uint64_t done, uint64_t total) {
    if (progress_ && !progress_(done, total)) stopping_.request_stop();
  };
}

nlohmann::ordered_json answer(const std::string& json, std::string text) {
  nlohmann::ordered_json found = {{"result", nlohmann::ordered_json::parse(json, nullptr, false)}};
  found["text"] = std::move(text);
  return found;
}

}  // namespace parley::api
