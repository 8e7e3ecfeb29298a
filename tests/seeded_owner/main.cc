// An owner whose noise replays from a seed, so that a test can compare a networked job with a
// simulated one bit for bit. Only tests build it; the product has no way to seed an owner.
//
//   seeded_owner POLICY CHARTER HOST:PORT SEED        answers; with copies one learner after the
//                                                     other, in a graph it listens there
//   seeded_owner POLICY CHARTER TRANSCRIPT SEED OUT   tunes
#include <cstdio>
#include <cstdlib>

#include "parley/net/owner_service.h"
#include "parley/net/tune.h"
#include "parley/protocol/owner_jobs.h"
#include "parley/sim/seeded_entropy.h"

namespace {

using namespace parley;

void log_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

/// As in a simulation: of copies the first, then the second, and so on.
std::vector<std::string> learners_of(const charter::Policy& policy,
                                     const charter::Charter& charter) {
  if (!charter.protocol.copies) return {""};
  std::vector<std::string> names;
  for (const charter::Charter& job : *protocol::jobs_asking(charter, policy.owner))
    names.push_back(job.learner.name);
  return names;
}

}  // namespace

int main(int count, char** words) {
  check(count == 5 || count == 6);
  const auto policy = charter::read_policy(words[1]);
  const auto charter = charter::read_charter(words[2]);
  check(policy && charter);
  SystemClock clock;
  sim::SeededEntropy entropy(std::strtoull(words[4], nullptr, 10), policy->owner, 0);
  if (count == 6) {
    const auto tuned =
        net::tune(*policy, *charter, {.transcript = words[3], .out = words[5]}, entropy, clock);
    if (!tuned) log_line(describe(tuned.error()));
    return tuned ? 0 : 1;
  }
  const std::atomic<bool> stop = false;
  for (const std::string& learner : learners_of(*policy, *charter)) {
    net::ServiceOptions options{.charters = {words[2]}, .learner = learner};
    (charter->protocol.graph.empty() ? options.dial : options.listen) = words[3];
    const auto ends = net::serve(*policy, options, entropy, clock, stop, log_line);
    if (!ends) log_line(describe(ends.error()));
    if (!ends || !ends->front().model) return 1;
  }
  return 0;
}
