// An owner whose noise replays from a seed, so that a test can compare a networked job with a
// simulated one bit for bit. Only tests build it; the product has no way to seed an owner.
//
//   seeded_owner POLICY CHARTER HOST:PORT SEED
#include <cstdio>
#include <cstdlib>

#include "parley/net/owner_service.h"
#include "parley/sim/seeded_entropy.h"

int main(int count, char** words) {
  using namespace parley;
  check(count == 5);
  const auto policy = charter::read_policy(words[1]);
  check(bool(policy));
  SystemClock clock;
  sim::SeededEntropy entropy(std::strtoull(words[4], nullptr, 10), policy->owner, 0);
  const std::atomic<bool> stop = false;
  const auto log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const auto ends =
      net::serve(*policy, {.charters = {words[2]}, .dial = words[3]}, entropy, clock, stop, log);
  if (!ends) log(describe(ends.error()));
  return ends && ends->front().model ? 0 : 1;
}
