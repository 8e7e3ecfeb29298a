// Rows larger than the memory they may take: scripts/bench readers_memory [MB]
//
// Fills dense and sparse rows of that size (1000 MB unless told) and passes over them three times,
// once in memory and once with a limit of a quarter of it, each in a process of its own. The file
// lies in the current folder. What the passes add up to must be the same.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <vector>

#include "parley/learn/kernel/kernel.h"

namespace parley {
namespace {

struct Taken {
  double fill, pass;  // seconds; of the passes the best
  double peak;        // bytes
  bool in_file;
  uint64_t sum;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double next(uint64_t& state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return double(state >> 11) * 0x1p-52 - 1;
}

constexpr size_t kColumns = 31, kSparseColumns = 1000, kGiven = 20;

void fill(data::Rows& rows, double bytes) {
  uint64_t state = 88172645463325252u;
  std::vector<double> z(kColumns);
  for (double done = 0; done < bytes; done += 8.0 * double(rows.stride() + 1)) {
    for (double& value : z) value = next(state);
    rows.add(z, next(state) > 0 ? 1 : -1);
  }
}

void fill(data::SparseRows& rows, double bytes) {
  uint64_t state = 88172645463325252u;
  std::vector<double> z(kGiven);
  std::vector<uint32_t> at(kGiven);
  for (double done = 0; done < bytes; done += 12.0 * kGiven + 16) {
    for (size_t k = 0; k < kGiven; ++k) z[k] = next(state), at[k] = uint32_t(50 * k + state % 50);
    rows.add(at, z, next(state) > 0 ? 1 : -1);
  }
}

template <class AnyRows>
uint64_t pass(const AnyRows& rows) {
  const learn::Losses loss = learn::Logistic{};
  const learn::Lattice lattice = *learn::Lattice::make(1, 24, rows.columns());
  const std::vector<double> theta(rows.columns(), 0.1);
  uint64_t sum = 0;
  data::by_window(rows, 0, rows.size(), [&](size_t begin, size_t end) {
    for (int64_t each : learn::lattice_sum<L1>(loss, lattice, theta, rows, begin, end))
      sum += uint64_t(each);
  });
  return sum;
}

template <class AnyRows>
void measure(size_t columns, double bytes, const MemoryLimit& limit, Taken& taken) {
  const double start = now();
  AnyRows rows(columns, limit);
  fill(rows, bytes);
  taken = {.fill = now() - start,
           .pass = 1e9,
           .peak = 0,
           .in_file = rows.window() < rows.size(),
           .sum = 0};
  for (int run = 0; run < 3; ++run) {
    const double before = now();
    taken.sum = pass(rows);
    taken.pass = std::min(taken.pass, now() - before);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  taken.peak = double(usage.ru_maxrss) * 1024;
  if (rows.failure()) std::fprintf(stderr, "%s\n", describe(*rows.failure()).c_str()), ::_exit(1);
}

template <class AnyRows>
bool report(const char* name, size_t columns, double bytes) {
  void* memory =
      ::mmap(nullptr, 2 * sizeof(Taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED);
  auto* const taken = static_cast<Taken*>(memory);
  const MemoryLimit limits[] = {{}, {uint64_t(bytes / 4), std::filesystem::current_path()}};
  for (int k = 0; k < 2; ++k) {
    const pid_t child = ::fork();
    if (child == 0) measure<AnyRows>(columns, bytes, limits[k], taken[k]), ::_exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) return false;
    const double mb = bytes / 1e6;
    std::printf("%-7s %6.0f MB %-9s filled at %5.0f MB/s  passed at %5.0f MB/s  peak %5.0f MB%s\n",
                name, mb, taken[k].in_file ? "in a file" : "in memory", mb / taken[k].fill,
                mb / taken[k].pass, taken[k].peak / 1e6, k == 0 ? "" : ", limit a quarter");
  }
  if (taken[0].sum != taken[1].sum) std::fputs("the sums differ\n", stderr);
  return taken[0].sum == taken[1].sum;
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  const double bytes = (argc > 1 ? std::atof(argv[1]) : 1000) * 1e6;
  const bool dense = parley::report<parley::data::Rows>("dense", parley::kColumns, bytes);
  const bool sparse =
      parley::report<parley::data::SparseRows>("sparse", parley::kSparseColumns, bytes);
  return dense && sparse ? 0 : 1;
}
