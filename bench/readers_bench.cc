// Reads one file, CSV or LIBSVM, and prints how fast and with how much memory.
//
//   readers csv|libsvm|sparse FILE COLUMNS      every column f1 .. fCOLUMNS a number, target y
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "parley/learn/data/csv.h"
#include "parley/learn/data/libsvm.h"

namespace {

using namespace parley;

learn::Schema schema_of(int columns) {
  learn::Schema schema;
  for (int j = 1; j <= columns; ++j)
    schema.columns.push_back({.name = "f" + std::to_string(j), .low = -1e6, .high = 1e6});
  schema.target = {.column = "y", .low = -1e6, .high = 1e6};
  return schema;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024 / 1e6;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Rows and megabytes of what was read.
struct Read {
  size_t rows;
  double mb;
};

Result<Read> read(const std::string& kind, const std::string& file, const learn::Schema& schema) {
  if (kind == "sparse") {
    const auto got = TRY(learn::read_libsvm_sparse(file, schema));
    return Read{got.rows.size(), (12.0 * double(got.rows.nonzeros()) + 16.0 * double(got.rows.size())) / 1e6};
  }
  const auto got = kind == "csv" ? TRY(learn::read_csv_counted(file, schema))
                                 : TRY(learn::read_libsvm(file, schema));
  return Read{got.rows.size(), double(got.rows.size() * (got.rows.stride() + 1)) * 8 / 1e6};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("readers csv|libsvm|sparse FILE COLUMNS\n", stderr), 2;
  const learn::Schema schema = schema_of(std::atoi(argv[3]));
  const double before = peak_mb();
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const auto got = read(argv[1], argv[2], schema);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - cpu_before;
  if (!got) return std::fprintf(stderr, "%s\n", describe(got.error()).c_str()), 1;
  const double mb = double(std::filesystem::file_size(argv[2])) / 1e6;
  std::printf("{\"rows\": %zu, \"seconds\": %.4f, \"cpu_seconds\": %.4f, \"mb\": %.1f, \"mb_per_s\": %.0f, "
              "\"matrix_mb\": %.1f, \"peak_mb\": %.1f, \"start_mb\": %.1f}\n",
              got->rows, seconds, cpu, mb, mb / cpu, got->mb, peak_mb(), before);
  return 0;
}
