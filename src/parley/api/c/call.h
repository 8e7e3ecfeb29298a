// One call of the C interface: its arguments, tables and hooks, and what every command does with
// them. commands.cc has the list.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parley/api/c/tables.h"
#include "parley/api/stopped.h"
#include "parley/api/temporary_folder.h"
#include "parley/base/json_object.h"
#include "parley/charter.h"
#include "parley/progress.h"

namespace parley::api {

class Call {
 public:
  using Progress = std::function<bool(uint64_t done, uint64_t total)>;  // false: stop

  Call(const nlohmann::json& arguments, const Tables& tables, Progress progress);

  /// kInvalid where an argument is none of these.
  Result<void> only(std::initializer_list<std::string_view> known) const;
  /// Whether the argument was given; null is not.
  bool has(std::string_view key) const;
  const JsonObject& arguments() const { return object_; }

  /// Sets `value` if the argument was given. T as JsonObject::get has it.
  template <class T>
  Result<void> take(std::string_view key, T& value) const {
    return has(key) ? object_.get(key, value) : Result<void>();
  }
  template <class T>
  Result<void> take(std::string_view key, std::optional<T>& value) const {
    return has(key) ? object_.get(key, value.emplace()) : Result<void>();
  }
  Result<void> take(std::string_view key, std::filesystem::path& value) const;
  Result<void> take(std::string_view key, int& value) const;
  /// One number, or several.
  Result<std::vector<double>> numbers(std::string_view key) const;
  /// An object of texts.
  Result<std::vector<std::pair<std::string, std::string>>> texts(std::string_view key) const;

  const Tables& tables() const { return tables_; }
  /// "charter" (text) or "charter_file", "folder", "set", and "public", a table that takes the
  /// pilot's place. Its files lie in a folder that this keeps, with the bundle from "folder".
  Result<Charter> charter();
  static constexpr std::string_view kCharter[] = {"charter", "charter_file", "folder", "set",
                                                  "public"};

  /// Of work that can be left at any moment: throws Stopped where it is heard on the calling
  /// thread.
  OnProgress leaving() const;
  /// Of other work: its word is passed on, and stop() tells what the caller said.
  OnProgress heard() const;
  std::stop_token stop() const { return stopping_.get_token(); }

 private:
  Result<std::vector<Override>> changes();
  Result<void> write_public(std::vector<Override>& changes);
  Result<void> bring_bundle(const Charter& charter, const std::filesystem::path& folder);

  const nlohmann::json& json_;
  JsonObject object_;
  const Tables& tables_;
  Progress progress_;
  std::thread::id caller_ = std::this_thread::get_id();
  mutable std::stop_source stopping_{};
  std::optional<TemporaryFolder> folder_{};
};

/// {"result": what the program prints with --json, "text": what it prints without}.
nlohmann::ordered_json answer(const std::string& json, std::string text);

/// A command by its name. kInvalid with the names that there are.
using Command = Result<nlohmann::ordered_json>(Call& call);
Result<Command*> command_named(std::string_view name);

}  // namespace parley::api
