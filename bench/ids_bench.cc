// Owners find out which ids all of them have: scripts/bench ids [ids of each] [owners]. Half of
// them are in common. All owners in one process, one after the other: processor time of the first,
// and what it sends.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string>
#include <vector>

#include "parley/protocol/vertical/ids/intersection.h"
#include "parley/protocol/vertical/ids/joint_tokens.h"

namespace {

using namespace parley;
using protocol::ot::Intersection, protocol::ot::JointTokens;

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

std::vector<learn::IdDigest> people(size_t first, size_t count) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back("person " + std::to_string(first + i));
  return learn::align(ids, Secret32{1}).digests;
}

/// Of the owner that is looked at.
struct Cost {
  double seconds = 0, bytes = 0;
  size_t common = 0;
  /// Counts what this does.
  template <class Do>
  auto of(const Do& what) {
    const double began = processor_seconds();
    auto done = what();
    seconds += processor_seconds() - began;
    return done;
  }
};

Result<Cost> two(size_t size) {
  Cost cost;
  const auto a = people(0, size), b = people(size / 2, size);
  Intersection first = cost.of([&] { return Intersection(Hash{1}, 0, a, Secret32{2}); });
  Intersection second(Hash{1}, 1, b, Secret32{3});
  TRY(first.take_commitment(second.commitment()));
  TRY(second.take_commitment(first.commitment()));
  const Bytes list = second.list();
  const Bytes answer = TRY(cost.of([&] { return first.take_list(list, size); }));
  const Bytes for_first = TRY(second.take_list(first.list(), size));
  TRY(cost.of([&] { return first.take_answer(for_first); }));
  cost.bytes = double(list.size() + answer.size());
  cost.common = first.common().size();
  return cost;
}

Result<Cost> more(size_t size, uint32_t owners) {
  Cost cost;
  std::vector<JointTokens> all;
  for (uint32_t m = 0; m < owners; ++m) {
    const auto ids = people(m == 0 ? 0 : size / 2, size);
    const auto make = [&] {
      return JointTokens(Hash{1}, m, owners, ids, Secret32{uint8_t(2 + m)});
    };
    all.push_back(m == 0 ? cost.of(make) : make());
  }
  for (size_t to = 0; to < owners; ++to)
    for (size_t from = 0; from < owners; ++from)
      if (to != from) TRY(all[to].take_promise(from, all[from].promise()));
  for (size_t to = 0; to < owners; ++to)
    for (size_t from = 0; from < owners; ++from) {
      if (to == from) continue;
      const Bytes list = all[to].list();
      const auto answer = [&] { return all[from].take_list(to, list, size); };
      const Bytes made = TRY(from == 0 ? cost.of(answer) : answer());
      const auto take = [&] { return all[to].take_answer(from, made); };
      TRY(to == 0 ? cost.of(take) : take());
      if (from == 0) cost.bytes += double(list.size() + made.size());
    }
  auto common = TRY(cost.of([&] { return all[0].tokens(); }));
  cost.bytes += double(common.size() * sizeof(common[0]));
  for (size_t m = 1; m < owners; ++m) {
    const auto others = TRY(all[m].tokens());
    std::vector<learn::IdDigest> both;
    std::set_intersection(common.begin(), common.end(), others.begin(), others.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  TRY(cost.of([&] { return all[0].take_common(common); }));
  cost.common = all[0].common().size();
  return cost;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t size = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 50000;
  const auto owners =
      static_cast<uint32_t>(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 2);
  const auto cost = owners == 2 ? two(size) : more(size, owners);
  if (!cost) return 1;
  fmt::print(
      "{} ids of each of {} owners, {} in common: {:.2f} s of processor time and {:.1f} MB sent by "
      "each\n",
      size, owners, cost->common, cost->seconds, cost->bytes / 1e6);
  return 0;
}
