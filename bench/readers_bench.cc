// How fast files become rows, and with how much memory: scripts/bench readers [MB]
//
// Generates CSV and LIBSVM files of that size (200 MB unless told) in the temporary folder and
// reads each in a process of its own. With `file KIND FILE COLUMNS` it reads that file: every
// column f1 .. fCOLUMNS a number, target y; bench/readers.py compares the same files with pandas
// and scikit-learn.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "parley/base/files.h"
#include "parley/base/memory/pages.h"
#include "parley/data/readers/csv.h"
#include "parley/data/readers/libsvm.h"

namespace {

using namespace parley;

data::Schema schema_of(int columns) {
  data::Schema schema;
  for (int j = 1; j <= columns; ++j)
    schema.columns.push_back({.name = "f" + std::to_string(j), .low = -1e6, .high = 1e6});
  schema.target = {.column = "y", .low = -1e6, .high = 1e6};
  return schema;
}

double seconds_of(const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); }

rusage usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double cpu_seconds() { return seconds_of(usage().ru_utime) + seconds_of(usage().ru_stime); }

/// Rows and bytes of what was read.
struct Read {
  size_t rows;
  double bytes;
};

Result<Read> read(const std::string& kind, const std::string& file, const data::Schema& schema) {
  if (kind == "sparse") {
    const auto got = TRY(data::read_libsvm_sparse(file, schema));
    return Read{got.rows.size(), double(got.rows.bytes())};
  }
  const auto got = kind == "csv" ? TRY(data::read_csv_counted(file, schema))
                                 : TRY(data::read_libsvm(file, schema));
  return Read{got.rows.size(), 8.0 * double(got.rows.size() * (got.rows.stride() + 1))};
}

/// What one reading took; shared with the process that did it.
struct Taken {
  Read read;
  double cpu, user, peak;  // seconds, seconds, bytes
};

int measure(const std::string& kind, const std::string& file, int columns, Taken& taken) {
  const data::Schema schema = schema_of(columns);
  const double cpu_before = cpu_seconds(), user_before = seconds_of(usage().ru_utime);
  const auto got = read(kind, file, schema);
  if (!got) return std::fprintf(stderr, "%s\n", describe(got.error()).c_str()), 1;
  taken = {*got, cpu_seconds() - cpu_before, seconds_of(usage().ru_utime) - user_before,
           double(usage().ru_maxrss) * 1024};
  return 0;
}

/// Processor seconds of getting and clearing so many bytes of memory, which no reader can save.
double seconds_of_pages(double bytes) {
  const double before = cpu_seconds();
  Pages<char> pages;
  pages.resize(size_t(bytes));
  for (size_t i = 0; i < pages.size(); i += 4096) pages[i] = 1;
  return cpu_seconds() - before;
}

/// Each reading in a process of its own, so that peaks do not add up.
int alone(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int failed = work();
    std::fflush(nullptr);
    ::_exit(failed);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// One line: MB of file per second of processor time, the middle one of five readings and in
/// brackets the slowest; how much of it memory takes; and the peak by the matrix. A virtual machine
/// may have to ask its host for memory, which takes longer than all the rest, and keeps what it got
/// for a second or two: the first reading is shown, too.
int report(const std::string& kind, const std::string& file, int columns) {
  constexpr size_t kAgain = 5;
  void* memory = ::mmap(nullptr, (kAgain + 2) * sizeof(Taken), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED);
  auto* const again = static_cast<Taken*>(memory);
  Taken &first = again[kAgain], &pages = again[kAgain + 1];
  const auto read = [&](Taken& into) {
    return alone([&] { return measure(kind, file, columns, into); });
  };
  int failed = read(first);
  failed |= alone([&] { return pages.cpu = seconds_of_pages(first.read.bytes), 0; });
  for (size_t k = 0; k < kAgain; ++k) failed |= read(again[k]);
  if (failed) return 1;
  const double mb = double(std::filesystem::file_size(file)) / 1e6;
  std::sort(again, again + kAgain, [](const Taken& a, const Taken& b) { return a.cpu < b.cpu; });
  const Taken& middle = again[kAgain / 2];
  std::printf(
      "%-7s %5.0f MB %8zu rows  %5.2f s (%4.2f user, pages alone %4.2f)  %4.0f (%4.0f) MB/s  first "
      "%4.0f MB/s  matrix %5.0f MB  peak %5.0f MB = %.2f x\n",
      kind.c_str(), mb, middle.read.rows, middle.cpu, middle.user, pages.cpu, mb / middle.cpu,
      mb / again[kAgain - 1].cpu, mb / first.cpu, middle.read.bytes / 1e6, middle.peak / 1e6,
      middle.peak / middle.read.bytes);
  return 0;
}

/// Writes `mb` megabytes of lines, the first `header`.
Result<void> generate(const std::filesystem::path& file, double mb, std::string header,
                      const std::function<std::string(uint64_t&)>& line) {
  uint64_t state = 1;
  double left = mb * 1e6;
  std::string piece = std::move(header);
  return write_pieces(file, [&]() -> std::string_view {
    if (left <= 0) return {};
    if (left < mb * 1e6) piece.clear();  // All but the header, the first time.
    while (piece.size() < (1 << 20)) piece += line(state);
    left -= double(piece.size());
    return piece;
  });
}

uint64_t next(uint64_t& state) {
  return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33;
}

std::string number(uint64_t& state, const char* format) {
  char text[40];
  std::snprintf(text, sizeof text, format, double(next(state)) / 0x1p30 * 100 - 100);
  return text;
}

std::string csv_line(uint64_t& state, int columns, const char* format) {
  std::string line;
  for (int j = 0; j < columns; ++j) line += number(state, format) + ",";
  return line + number(state, "%.4g") + "\n";
}

/// Columns are 1 to `gap` apart.
std::string libsvm_line(uint64_t& state, int columns, uint64_t gap, const char* format) {
  std::string line = next(state) % 4 ? "-1" : "+1";
  for (int j = 1 + int(next(state) % gap); j <= columns; j += 1 + int(next(state) % gap))
    line += " " + std::to_string(j) + ":" + (format ? number(state, format) : "1");
  return line + "\n";
}

std::string header_of(int columns) {
  std::string header;
  for (int j = 1; j <= columns; ++j) header += "f" + std::to_string(j) + ",";
  return header + "y\n";
}

struct Case {
  const char *name, *kind;
  int columns;
  const char* format;  // null: 1
  uint64_t gap = 17;
};

int run(double mb) {
  constexpr Case kCases[] = {
      {"6 digits", "csv", 20, "%.6g"},     {"17 digits", "csv", 20, "%.17g"},
      {"3 digits", "csv", 20, "%.3g"},     {"ones", "sparse", 123, nullptr},
      {"6 digits", "sparse", 123, "%.6g"}, {"all there", "libsvm", 123, "%.6g", 1},
      {"one in 9", "libsvm", 123, "%.6g"}};
  const auto folder = std::filesystem::temp_directory_path();
  int failed = 0;
  for (const Case& c : kCases) {
    const auto file = folder / ("parley_bench_" + std::to_string(::getpid()));
    const bool csv = std::string(c.kind) == "csv";
    const auto made = generate(file, mb, csv ? header_of(c.columns) : "", [&](uint64_t& state) {
      return csv ? csv_line(state, c.columns, c.format)
                 : libsvm_line(state, c.columns, c.gap, c.format);
    });
    if (!made) return std::fprintf(stderr, "%s\n", describe(made.error()).c_str()), 1;
    std::printf("%-10s", c.name);
    failed |= report(c.kind, file.string(), c.columns);
    std::filesystem::remove(file);
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "file")
    return report(argv[2], argv[3], std::atoi(argv[4]));
  if (argc > 2)
    return std::fputs("readers_bench [MB] | file csv|libsvm|sparse FILE COLUMNS\n", stderr), 2;
  return run(argc == 2 ? std::atof(argv[1]) : 200);
}
