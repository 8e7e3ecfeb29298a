// Two owners set up shares of the products of their columns without a dealer, and one block of a
// round: scripts/bench columns [records]. Columns are those of a9a (8 and 6 attributes, 66 and 57
// columns), leaves are random. Both owners in one process, one after the other: processor time of
// each, and bytes sent.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "../tests/support/to_mask.h"
#include "parley/base/entropy.h"
#include "parley/protocol/vertical/cells/pair_setup.h"

namespace {

using namespace parley;
using namespace parley::protocol::ot;

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

PairOwner owner_of(uint32_t place, std::initializer_list<uint32_t> levels, bool label) {
  PairOwner owner{.place = place, .cells = {}, .columns = 0, .pool = 0};
  for (const uint32_t count : levels) {
    owner.cells.push_back(category_cell(count, false, static_cast<uint32_t>(owner.columns), 1));
    owner.columns += count;
  }
  if (label) owner.cells.push_back(label_cell(static_cast<uint32_t>(owner.columns++), 1));
  return owner;
}

privacy::ToMask<WipedVector<uint32_t>> random_leaves(const Cells& cells, size_t records,
                                                     Entropy& entropy) {
  WipedVector<uint32_t> leaves;
  for (size_t i = 0; i < records; ++i)
    for (const Cell& cell : cells)
      leaves.push_back(static_cast<uint32_t>(entropy.word() % cell.leaves()));
  return privacy::ToMaskForTest::make(std::move(leaves));
}

struct Side {
  PairSetup setup;
  double seconds = 0;
  size_t bytes = 0;
};

}  // namespace

int main(int count, char** arguments) {
  constexpr unsigned kBits = 12, kRounds = 40;
  PairPlan plan;
  plan.records = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 32561;
  plan.m = owner_of(1, {5, 2, 2, 2, 5, 41}, false);
  plan.k = owner_of(0, {5, 8, 5, 16, 5, 6, 15, 6}, true);
  plan.m.pool = kRounds * pool_size(plan.m.columns, kBits);
  plan.k.pool = kRounds * pool_size(plan.k.columns - 1, kBits);
  SystemEntropy entropy;
  Side m{PairSetup(plan, Role::kM, random_leaves(plan.m.cells, plan.records, entropy), entropy)};
  Side k{PairSetup(plan, Role::kK, random_leaves(plan.k.cells, plan.records, entropy), entropy)};
  while (!m.setup.is_done() || !k.setup.is_done())
    for (auto [from, to] : {std::pair{&m, &k}, std::pair{&k, &m}}) {
      double began = processor_seconds();
      const std::vector<Bytes> letters = from->setup.write();
      from->seconds += processor_seconds() - began;
      for (const Bytes& letter : letters) {
        from->bytes += letter.size();
        began = processor_seconds();
        if (const auto taken = to->setup.take(letter); !taken) {
          fmt::print(stderr, "{}\n", taken.error().what);
          return 1;
        }
        to->seconds += processor_seconds() - began;
      }
    }
  fmt::print("{} records, {} + {} columns, {} and {} cells, pools for {} rounds\n", plan.records,
             plan.m.columns, plan.k.columns, plan.m.cells.size(), plan.k.cells.size(), kRounds);
  fmt::print("set-up, owner m: {:.2f} s of processor time, {:.1f} MB sent\n", m.seconds,
             double(m.bytes) / 1e6);
  fmt::print("set-up, owner k: {:.2f} s of processor time, {:.1f} MB sent\n", k.seconds,
             double(k.bytes) / 1e6);

  const PairShare& of_m = privacy::ToMaskForTest::value(m.setup.share());
  const PairShare& of_k = privacy::ToMaskForTest::value(k.setup.share());
  const LeafWords hash(plan.back(), plan.m.columns);
  const size_t columns = plan.k.columns - 1, size = pool_size(columns, kBits);
  const WipedVector<int64_t> n(columns, 77);
  const double began = processor_seconds();
  const BlockChooser chooser(n, kBits, std::span(of_k.choices).first(size));
  const auto answer = answer_block(hash, std::span(of_m.others).first(size), of_m.share, columns,
                                   kBits, chooser.flips());
  const auto v =
      chooser.conclude(hash, std::span(of_k.strings).first(size), of_k.share, answer->words);
  fmt::print("one block of {} numbers from {} of the peer: {:.2f} ms, {:.2f} MB\n", v->size(),
             columns, 1e3 * (processor_seconds() - began),
             double(8 * answer->words.size() + size / 8 + 7 * v->size()) / 1e6);
  return 0;
}
