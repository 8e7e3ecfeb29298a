// How close the owner's pass comes to the speed at which memory can be read at all:
//   kernel_bench [ROWS]
// For each shape the same pages are read (every word added, nothing else) and passed over, in turn,
// and the best time of each is compared. 100 % would mean that computing costs nothing.
//
//   kernel_bench FILE LOSS THREADS MAX_GRAD_NORM REPEATS
// For bench/kernel.py: the rows of rows_file.h, passed over at theta = 0.01. Prints one JSON
// object: the seconds of the best repeat, what the lattice is, and the sum.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>

#include "parley/base/memory/parallel.h"
#include "parley/learn/kernel/kernel.h"
#include "rows_file.h"

namespace parley {
namespace {

using learn::Isa, learn::Losses, data::Rows, data::SparseRows;
using Sum = std::vector<int64_t>;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The values do not matter, only that they vary.
class Random {
 public:
  uint64_t word() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  double number() { return double(word() >> 11) * 0x1p-52 - 1; }

 private:
  uint64_t state_ = 88172645463325252u;
};

Rows make_rows(size_t count, size_t columns) {
  Random random;
  Rows rows(columns);
  rows.reserve(count);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    for (double& value : z) value = random.number();
    rows.add(z, random.number() > 0 ? 1 : -1);
  }
  return rows;
}

/// One feature out of each of `given` groups of columns, as one-hot data has them: all 1, or not.
SparseRows make_sparse(size_t count, size_t columns, size_t given, bool ones) {
  Random random;
  SparseRows rows(columns);
  std::vector<uint32_t> at(given);
  std::vector<double> z(given);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < given; ++k) {
      const size_t begin = columns * k / given, end = columns * (k + 1) / given;
      at[k] = uint32_t(begin + random.word() % (end - begin)), z[k] = ones ? 1 : random.number();
    }
    rows.add(at, z, random.number() > 0 ? 1 : -1);
  }
  return rows;
}

/// Adds all words with eight independent vectors: as fast as memory allows.
template <class T>
uint64_t read_all(const T* from, size_t count) {
  const auto* words = reinterpret_cast<const char*>(from);
  __m256i sum[8] = {};
  for (size_t i = 0; i + 256 <= count * sizeof(T); i += 256)
    for (size_t k = 0; k < 8; ++k) {
      const auto* next = reinterpret_cast<const __m256i*>(words + i + 32 * k);
      sum[k] = _mm256_add_epi64(sum[k], _mm256_loadu_si256(next));
    }
  for (size_t k = 1; k < 8; ++k) sum[0] = _mm256_add_epi64(sum[0], sum[k]);
  return uint64_t(_mm256_extract_epi64(sum[0], 0)) + uint64_t(_mm256_extract_epi64(sum[0], 1)) +
         uint64_t(_mm256_extract_epi64(sum[0], 2)) + uint64_t(_mm256_extract_epi64(sum[0], 3));
}

uint64_t read_rows(const Rows& rows, size_t begin, size_t end) {
  return read_all(rows.values() + begin * rows.stride(), (end - begin) * rows.stride()) +
         read_all(rows.labels() + begin, end - begin);
}

uint64_t read_rows(const SparseRows& rows, size_t begin, size_t end) {
  const size_t first = rows.offsets()[begin], count = rows.offsets()[end] - first;
  return (rows.all_ones() ? 0 : read_all(rows.row_values(begin).data(), count)) +
         read_all(rows.indices() + first, count) + read_all(rows.offsets() + begin, end - begin) +
         read_all(rows.labels() + begin, end - begin);
}

double bytes_of(const Rows& rows) { return double(rows.size()) * double(rows.stride() + 1) * 8; }
double bytes_of(const SparseRows& rows) {
  return double(rows.nonzeros()) * (rows.all_ones() ? 4 : 12) + double(rows.size()) * 16;
}

/// The whole pass, as the gate makes it.
template <class Data, class... Choice>
Sum pass_over(const Data& rows, const Losses& loss, const learn::Lattice& lattice, int threads,
              Choice... isa) {
  const std::vector<double> theta(rows.columns(), 0.01);
  Sum total(rows.columns());
  std::mutex mutex;
  in_parallel(threads, rows.size(), [&](size_t, size_t begin, size_t end) {
    const Sum part = learn::lattice_sum<L1>(loss, lattice, theta, rows, begin, end, isa...);
    const std::scoped_lock lock(mutex);
    for (size_t j = 0; j < total.size(); ++j) total[j] += part[j];
  });
  return total;
}

volatile uint64_t sink;  // So that nothing is optimised away.

template <class Data>
void measure(const Data& rows, const std::string& shape, const char* name, const Losses& loss,
             int threads, Isa isa) {
  const auto lattice = *learn::Lattice::make(8, 24, rows.columns());
  double read = 1e9, pass = 1e9;
  for (int repeat = 0; repeat < 15; ++repeat) {
    read = std::min(read, seconds([&] {
                      in_parallel(threads, rows.size(), [&](size_t, size_t begin, size_t end) {
                        sink = read_rows(rows, begin, end);
                      });
                    }));
    pass = std::min(
        pass, seconds([&] { sink = uint64_t(pass_over(rows, loss, lattice, threads, isa)[0]); }));
  }
  std::printf("%-14s  %-8s  %7d  %-3s  %8.1f  %7.1f  %9.1f  %8.0f %%\n", shape.c_str(), name,
              threads, isa == Isa::kV4 ? "v4" : "v3", 1e3 * pass, double(rows.size()) / pass / 1e6,
              bytes_of(rows) / read / 1e9, 100 * read / pass);
}

template <class Data>
void measure_losses(const Data& rows, const std::string& shape) {
  for (int threads : {1, 2})
    for (Isa isa : {Isa::kV3, Isa::kV4}) {
      if (isa > learn::fastest_isa()) continue;
      measure(rows, shape, "squared", learn::Squared{}, threads, isa);
      measure(rows, shape, "hinge", learn::Hinge{}, threads, isa);
      measure(rows, shape, "logistic", learn::Logistic{}, threads, isa);
      measure(rows, shape, "huber", learn::Huber{}, threads, isa);
    }
}

void print_tables(size_t count) {
  std::printf("columns         loss      threads  isa   ms/pass   Mrow/s  read GB/s  of reading\n");
  for (size_t columns : {10, 31, 128})
    measure_losses(make_rows(count, columns), std::to_string(columns));
  measure_losses(make_sparse(count, 123, 14, false), "14 of 123");
  measure_losses(make_sparse(count, 123, 14, true), "14 ones of 123");
  measure_losses(make_sparse(count, 4096, 50, false), "50 of 4096");
}

void print_json(char** argument) {
  const Rows rows = rows_of_file(argument[1]);
  const auto loss = learn::loss_named(argument[2]);
  check(loss.has_value());
  const auto lattice = *learn::Lattice::make(std::atof(argument[4]), 24, rows.columns());
  double best = 1e9;
  Sum sum;
  for (int i = 0; i < std::atoi(argument[5]); ++i)
    best = std::min(
        best, seconds([&] { sum = pass_over(rows, *loss, lattice, std::atoi(argument[3])); }));
  std::printf("{\"seconds\": %.9g, \"clip\": %.17g, \"gamma\": %.17g, \"sum\": [", best,
              lattice.shortened<L1>(), lattice.gamma());
  for (size_t j = 0; j < sum.size(); ++j)
    std::printf(j == 0 ? "%lld" : ", %lld", static_cast<long long>(sum[j]));
  std::printf("]}\n");
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  if (argc == 6)
    parley::print_json(argv);
  else
    parley::print_tables(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
}
