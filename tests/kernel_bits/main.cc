// Prints a hash of many records' integer gradients. Built at several optimisation levels, each in a
// program of its own (one program would keep one copy of the template); all must print the same.
#include <cmath>
#include <cstdio>
#include <utility>
#include <variant>

#include "parley/base/bytes.h"
#include "parley/learn/kernel/record_map.h"
#include "support/entropy.h"

namespace parley {
namespace {

using test::SeededEntropy, test::uniform;

/// Records of many scales, a third of them on a grid of tenths where hinge scores sit at the kink.
template <class Norm, class L>
void add_gradients(const L& loss, size_t p, Bytes& out) {
  SeededEntropy entropy(p, Norm::kName);
  std::vector<double> theta(p), z(p);
  for (double& value : theta) value = 0.1 * (double(entropy.word() % 5) - 2);
  const learn::Lattice lattice = *learn::Lattice::make(2.5, 24, p);
  const learn::RecordMap<L, Norm, false> map(loss, lattice, theta);
  for (int i = 0; i < 2000; ++i) {
    const double scale = i % 3 == 0 ? 1 : std::ldexp(1.0, int(entropy.word() % 60) - 30);
    for (double& value : z)
      value = i % 3 == 0 ? double(entropy.word() % 2) : scale * (2 * uniform(entropy) - 1);
    learn::Rows rows(p);
    rows.add(z, i % 2 == 0 ? 1 : -1);
    std::vector<int64_t> sum(p);
    map.add(rows.values(), rows.label(0), sum.data());
    for (int64_t value : sum) append_little_endian(out, uint64_t(value));
  }
}

constexpr size_t kLosses = std::variant_size_v<learn::Losses>;

template <size_t... kIndex>
void add_losses(size_t p, Bytes& out, std::index_sequence<kIndex...>) {
  (add_gradients<L1>(std::variant_alternative_t<kIndex, learn::Losses>{}, p, out), ...);
  (add_gradients<L2>(std::variant_alternative_t<kIndex, learn::Losses>{}, p, out), ...);
  add_gradients<L1>(learn::Logistic{{0.3, 7.0}}, p, out);
}

}  // namespace
}  // namespace parley

int main() {
  using namespace parley;
  Bytes all;
  for (size_t p : {1, 7, 8, 10, 33}) add_losses(p, all, std::make_index_sequence<kLosses>{});
  std::printf("%s\n", to_hex(sha256(all)).c_str());
}
