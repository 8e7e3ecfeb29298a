// Prints a hash of many records' integer gradients. Built at several optimisation levels, each in a
// program of its own (one program would keep one copy of the template), and for another processor;
// all must print the same. Hence it needs nothing but the record map.
#include <cmath>
#include <cstdio>
#include <utility>
#include <variant>

#include "parley/learn/kernel/record_map.h"

namespace parley {
namespace {

/// Any numbers, the same everywhere: splitmix64 (Steele, Lea, Flood 2014).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t word() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return double(word() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

/// FNV-1a over 64-bit words.
struct Digest {
  uint64_t value = 0xcbf29ce484222325, count = 0;
  void add(int64_t word) { value = (value ^ uint64_t(word)) * 0x100000001b3, ++count; }
};

/// Records of many scales, a third of them on a grid of tenths where hinge scores sit at the kink.
template <class Norm, class L>
void add_gradients(const L& loss, size_t p, Digest& out) {
  Numbers numbers(p);
  std::vector<double> theta(p), z(p);
  for (double& value : theta) value = 0.1 * (double(numbers.word() % 5) - 2);
  const learn::Lattice lattice = *learn::Lattice::make(2.5, 24, p);
  const learn::RecordMap<L, Norm, false> map(loss, lattice, theta);
  for (int i = 0; i < 2000; ++i) {
    const double scale = i % 3 == 0 ? 1 : std::ldexp(1.0, int(numbers.word() % 60) - 30);
    for (double& value : z)
      value = i % 3 == 0 ? double(numbers.word() % 2) : scale * (2 * numbers.uniform() - 1);
    std::vector<int64_t> sum(p);
    map.add(z.data(), i % 2 == 0 ? 1 : -1, sum.data());
    for (int64_t value : sum) out.add(value);
  }
}

constexpr size_t kLosses = std::variant_size_v<learn::Losses>;

template <size_t... kIndex>
void add_losses(size_t p, Digest& out, std::index_sequence<kIndex...>) {
  (add_gradients<L1>(std::variant_alternative_t<kIndex, learn::Losses>{}, p, out), ...);
  (add_gradients<L2>(std::variant_alternative_t<kIndex, learn::Losses>{}, p, out), ...);
  add_gradients<L1>(learn::Logistic{{0.3, 7.0}}, p, out);
}

}  // namespace
}  // namespace parley

int main() {
  using namespace parley;
  Digest all;
  for (size_t p : {1, 7, 8, 10, 33}) add_losses(p, all, std::make_index_sequence<kLosses>{});
  std::printf("%016llx of %llu integers\n", static_cast<unsigned long long>(all.value),
              static_cast<unsigned long long>(all.count));
}
