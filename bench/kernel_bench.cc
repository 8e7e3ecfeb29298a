// How close the owner's pass comes to the speed at which memory can be read at all:
//   kernel_bench [rows]
// For each size the same pages are read (every number added, nothing else) and passed over, in
// turn, and the best time of each is compared. 100 % would mean that computing costs nothing.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "parley/base/parallel.h"
#include "parley/learn/kernel/kernel.h"

namespace parley {
namespace {

using learn::Isa, learn::Losses, learn::Rows;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Rows make_rows(size_t count, size_t columns) {
  uint64_t state = 88172645463325252u;  // xorshift: the values do not matter, only that they vary
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return double(state >> 11) * 0x1p-52 - 1;
  };
  Rows rows(columns);
  rows.reserve(count);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    for (double& value : z) value = next();
    rows.add(z, next() > 0 ? 1 : -1);
  }
  return rows;
}

/// Adds all numbers with eight independent vectors: as fast as memory allows.
double read_all(const double* from, size_t count) {
  __m256d sum[8] = {};
  for (size_t i = 0; i + 32 <= count; i += 32)
    for (size_t k = 0; k < 8; ++k) sum[k] += _mm256_loadu_pd(from + i + 4 * k);
  for (size_t k = 1; k < 8; ++k) sum[0] += sum[k];
  return sum[0][0] + sum[0][1] + sum[0][2] + sum[0][3];
}

volatile double sink;  // So that no read is optimised away.

void measure(const Rows& rows, const char* name, const Losses& loss, int threads, Isa isa) {
  const auto lattice = *learn::Lattice::make(8, 24, rows.columns());
  const std::vector<double> theta(rows.columns(), 0.01);
  double read = 1e9, pass = 1e9;
  for (int repeat = 0; repeat < 15; ++repeat) {
    read = std::min(read, seconds([&] {
                      in_parallel(threads, rows.size(), [&](size_t, size_t begin, size_t end) {
                        sink = read_all(rows.values() + begin * rows.stride(),
                                        (end - begin) * rows.stride()) +
                               read_all(rows.labels() + begin, end - begin);
                      });
                    }));
    pass = std::min(
        pass, seconds([&] {
          in_parallel(threads, rows.size(), [&](size_t, size_t begin, size_t end) {
            sink = double(learn::lattice_sum<L1>(loss, lattice, theta, rows, begin, end, isa)[0]);
          });
        }));
  }
  const double bytes = double(rows.size()) * double(rows.stride() + 1) * 8;
  std::printf("%4zu  %-9s  %7d  %-3s  %8.1f  %8.1f  %8.1f  %9.0f %%\n", rows.columns(), name,
              threads, isa == Isa::kV4 ? "v4" : "v3", 1e3 * pass, double(rows.size()) / pass / 1e6,
              bytes / read / 1e9, 100 * read / pass);
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  using namespace parley;
  const size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  std::printf("   p  loss       threads  isa   ms/pass    Mrow/s  read GB/s  of reading\n");
  for (size_t columns : {10, 31, 128}) {
    const Rows rows = make_rows(count, columns);
    for (int threads : {1, 2})
      for (Isa isa : {Isa::kV3, Isa::kV4}) {
        if (isa > learn::fastest_isa()) continue;
        measure(rows, "squared", learn::Squared{}, threads, isa);
        measure(rows, "hinge", learn::Hinge{}, threads, isa);
        measure(rows, "logistic", learn::Logistic{}, threads, isa);
        measure(rows, "huber", learn::Huber{}, threads, isa);
      }
  }
}
