// Two owners find out which ids both have: scripts/bench ids [ids of each]. Half of them are in
// common. Both owners in one process, one after the other: processor time of each, and bytes sent.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "parley/protocol/vertical/ot/intersection.h"

namespace {

using namespace parley;
using protocol::ot::Intersection;

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

std::vector<learn::IdDigest> people(size_t first, size_t count) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back("person " + std::to_string(first + i));
  return learn::align(ids, Secret32{1}).digests;
}

}  // namespace

int main(int count, char** arguments) {
  const size_t size = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 50000;
  const auto a = people(0, size), b = people(size / 2, size);
  double began = processor_seconds();
  Intersection first(Hash{1}, 0, a, Secret32{2});
  double own = processor_seconds() - began;
  Intersection second(Hash{1}, 1, b, Secret32{3});
  if (!first.take_commitment(second.commitment()) || !second.take_commitment(first.commitment()))
    return 1;
  const Bytes list = second.list();
  began = processor_seconds();
  const auto for_second = first.take_list(list, size);
  own += processor_seconds() - began;
  const auto for_first = second.take_list(first.list(), size);
  if (!for_first || !for_second) return 1;
  began = processor_seconds();
  if (!first.take_answer(*for_first)) return 1;
  own += processor_seconds() - began;
  fmt::print(
      "{} ids of each owner, {} in common: {:.2f} s of processor time and {:.1f} MB sent by each\n",
      size, first.common().size(), own, double(list.size() + for_second->size()) / 1e6);
  return 0;
}
