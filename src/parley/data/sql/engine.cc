#include "parley/data/sql/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

extern char** environ;

namespace parley::data::sql {
namespace {

using nlohmann::json;

constexpr size_t kLineMax = size_t{64} << 20;
constexpr std::string_view kKinds[] = {"real",    "integer", "decimal", "text",
                                       "boolean", "other",   "any"};

Error broken(const std::string& what) {
  return {Code::kFailed, "the engine of the data set " + what,
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

/// The child has the socket as its input and output, and this process's errors and environment.
Result<int> spawn(const std::vector<std::string>& command, int socket) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, 1);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Error{Code::kUnavailable,
                 "cannot start " + command[0],
                 "Check the path.",
                 {.key = "dataset.command"}};
  return static_cast<int>(child);
}

}  // namespace

Result<std::shared_ptr<Engine>> Engine::start(const EngineSettings& settings) {
  std::vector<std::string> command = settings.command;
  if (command.empty()) command = {std::filesystem::read_symlink("/proc/self/exe"), "engine"};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Code::kFailed, "no socket for an engine"};
  const auto child = spawn(command, ends[1]);
  close(ends[1]);
  if (!child) return close(ends[0]), child.error();
  const std::shared_ptr<Engine> engine(new Engine(settings, ends[0], *child));
  const json hello = {{"parley_engine", 1},
                      {"dialect", name_of(settings.dialect)},
                      {"path", settings.path},
                      {"dsn", settings.dsn},
                      {"query", settings.query}};
  const std::string line = TRY(engine->exchange(line_of(hello)));
  engine->columns_ = TRY(columns_in(TRY(parsed(line, "columns"))));
  return engine;
}

Engine::~Engine() {
  close(socket_);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

Result<std::string> Engine::exchange(const std::string& line) {
  const std::string all = line + "\n";
  for (size_t sent = 0; sent < all.size();) {
    const ssize_t now = send(socket_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return broken("has ended");
    sent += static_cast<size_t>(now);
  }
  size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    char part[65536];
    const ssize_t now = recv(socket_, part, sizeof part, 0);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return broken("has ended");
    received_.append(part, static_cast<size_t>(now));
    if (received_.size() > kLineMax) return broken("talks without end");
  }
  std::string answer = received_.substr(0, end);
  received_.erase(0, end + 1);
  return answer;
}

Result<std::vector<int64_t>> Engine::ask(const Statement& statement,
                                         std::span<const double> theta) {
  json parameters = json::array();
  for (const Value& value : statement.values_at(theta)) parameters.push_back(json_of(value));
  const json question = {{"text", statement.text}, {"parameters", std::move(parameters)}};
  const std::lock_guard lock(mutex_);
  const std::string line = TRY(exchange(line_of(question)));
  std::vector<int64_t> numbers;
  for (const json& each : TRY(parsed(line, "numbers"))) numbers.push_back(TRY(number_in(each)));
  if (numbers.size() != statement.numbers + 1) return broken("gave another count of numbers");
  return numbers;
}

}  // namespace parley::data::sql
