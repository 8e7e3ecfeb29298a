#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

#include "parley/data/adbc/driver.h"
#include "parley/data/adbc/frames.h"
#include "parley/data/adbc/rows.h"
#include "parley/data/adbc/select.h"
#include "parley/data/arrow/stream.h"

namespace parley::data {
namespace {

using nlohmann::json;

/// The socket, out of the driver's reach: what it prints goes to our errors.
class Line {
 public:
  Line() : socket_(fcntl(0, F_DUPFD_CLOEXEC, 3)) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(2, 1);
  }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t now = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(now));
    }
    return true;
  }

  /// What the owner says next; no object if it says no more.
  json hear() const {
    std::string line;
    for (char c = 0; recv(socket_, &c, 1, 0) == 1 && c != '\n';) line += c;
    return json::parse(line, nullptr, false);
  }

 private:
  int socket_;
};

std::string dumped(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const Error& error) {
  return {{"error", error.what},
          {"hint", error.hint},
          {"key", error.where.key},
          {"code", name_of(error.code)}};
}

DriverSettings settings_in(const json& hello) {
  DriverSettings settings{.driver = hello.value("driver", ""),
                          .sha256 = hello.value("sha256", ""),
                          .entry = hello.value("entry", ""),
                          .setup = hello.value("setup", std::vector<std::string>())};
  for (const json& option : hello.value("options", json::array()))
    settings.options.emplace_back(option.at(0), option.at(1));
  return settings;
}

/// What is allocated beyond it fails, in this process only.
void limit_memory(uint64_t megabytes) {
  const rlimit limit{megabytes << 20, megabytes << 20};
  if (megabytes > 0) setrlimit(RLIMIT_DATA, &limit);
}

const char* kind_of(const ArrowStream& stream, size_t column) {
  const std::string_view format = stream.format(column);
  if (format == "u" || format == "U" || format == "vu") return "text";
  return format.size() == 1 && std::string_view("cCsSiIlL").find(format) != std::string_view::npos
             ? "integer"
             : "other";
}

json columns_of(const ArrowStream& stream) {
  json columns = json::array();
  for (size_t i = 0; i < stream.names().size(); ++i)
    columns.push_back({{"name", stream.names()[i]}, {"kind", kind_of(stream, i)}});
  return {{"columns", columns}};
}

Result<ArrowStream> open_stream(Driver& driver, const std::string& sql) {
  auto given = TRY(driver.query(sql));
  return ArrowStream::open(given.get(), ArrowColumn::Style::kAsCsv);
}

Error no_memory() {
  return {Code::kFailed, "the driver's process failed, or had no memory left",
          "Raise memory_mb if the rows need it."};
}
Error cannot_send() {
  return {Code::kFailed, "a record is larger than 1 GB, or the owner's process stopped reading"};
}

Error read_failed(const Error& error) {
  if (error.code != Code::kFailed) return error;
  return {
      Code::kFailed,
      "the database fails while it gives rows",
      "A file may be damaged, or need more memory than a quarter of memory_mb. Try the query with "
      "the database's own tools; what it says may hold values of records, and is not "
      "repeated here.",
      {.key = "dataset.query"}};
}

/// These columns of all batches, as frames.
Result<void> send_rows(ArrowStream& stream, const std::vector<size_t>& columns,
                       FrameWriter& frames) {
  for (const size_t column : columns) TRY(stream.check_type(column));
  std::vector<std::string> scratch(columns.size());
  for (;;) {
    const auto batch = stream.next(columns);
    if (!batch) return read_failed(batch.error());
    if (!*batch) break;
    for (int64_t row = 0; row < (*batch)->rows; ++row) {
      for (size_t i = 0; i < columns.size(); ++i)
        frames.add((*batch)->columns[i].at(row, scratch[i]));
      if (!frames.end_record()) return cannot_send();
    }
  }
  return frames.end() ? Result<void>() : cannot_send();
}

/// The owner's choice of columns, and the rows.
Result<void> give(Driver& driver, std::optional<ArrowStream> stream, const json& asked,
                  FrameWriter& frames) {
  auto columns = asked.value("take", std::vector<size_t>());
  if (!stream) {
    stream.emplace(TRY(open_stream(driver, asked.value("sql", ""))));
    for (size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  }
  if (std::any_of(columns.begin(), columns.end(),
                  [&](size_t i) { return i >= stream->names().size(); }))
    return Error{Code::kFailed, "the database returns other columns than it announced"};
  return send_rows(*stream, columns, frames);
}

void serve(const Line& line, const json& hello) {
  const auto refuse = [&](const Error& error) { line.send(dumped(json_of(error)) + "\n"); };
  limit_memory(hello.value("memory_mb", uint64_t{0}));
  const auto driver = Driver::open(settings_in(hello));
  if (!driver) return refuse(driver.error());
  const bool narrow = hello.value("narrow", false);
  const std::string query = hello.value("query", "");
  std::optional<ArrowStream> stream;
  {
    auto opened = open_stream(**driver, narrow ? columns_query(query) : query);
    if (!opened) return refuse(opened.error());
    if (!line.send(dumped(columns_of(*opened)) + "\n")) return;
    if (!narrow) stream.emplace(*std::move(opened));
  }
  const json asked = line.hear();
  if (!asked.is_object()) return;
  FrameWriter frames([&](std::string_view frame) { return line.send(frame); });
  try {
    const auto given = give(**driver, std::move(stream), asked, frames);
    if (!given) frames.error(dumped(json_of(given.error())));
  } catch (const std::exception&) {
    frames.error(dumped(json_of(no_memory())));
  }
}

}  // namespace

void serve_driver() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::set_new_handler(nullptr);  // No memory is an error that the owner hears of.
  const Line line;
  const json hello = line.hear();
  if (hello.is_object() && hello.contains("parley_driver")) {
    try {
      serve(line, hello);
    } catch (const std::exception&) {  // of the driver, or no memory
      line.send(dumped(json_of(no_memory())) + "\n");
    }
  }
  _exit(0);  // Without the driver's farewells, which may hang.
}

}  // namespace parley::data
