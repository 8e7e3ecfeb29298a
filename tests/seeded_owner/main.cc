// An owner whose noise replays from a seed, so that a test can compare a networked job with a
// simulated one bit for bit. Only tests build it; the product has no way to seed an owner.
//
//   seeded_owner POLICY CHARTER HOST:PORT SEED        answers; with copies one learner after the
//                                                     other, in a graph it listens there
//   seeded_owner POLICY CHARTER TRANSCRIPT SEED OUT   tunes
//   seeded_owner replay CHARTER DEALER_KEY POLICY...  plays a job of protocol sharing again, in one
//                                                     process, with the keys that it had; writes
//                                                     the parts of its model, one a line
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parley/base/files.h"
#include "parley/data/adbc/rows.h"
#include "parley/data/sources/child.h"
#include "parley/net/owner_service.h"
#include "parley/net/tune.h"
#include "parley/net/vertical.h"
#include "parley/plan/learner/jobs.h"
#include "parley/protocol/vertical/pads.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/seeded_entropy.h"

namespace {

using namespace parley;

void log_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

/// As in a simulation: of copies the first, then the second, and so on.
std::vector<std::string> learners_of(const charter::Policy& policy,
                                     const charter::Charter& charter) {
  if (!charter.protocol.learners.copies) return {""};
  std::vector<std::string> names;
  for (const charter::Charter& job : *plan::jobs_asking(charter, policy.owner))
    names.push_back(job.learner.name);
  return names;
}

/// Whatever fails here fails the test that runs it.
int replay(int count, char** words) {
  const auto charter = *charter::read_charter(words[2]);
  sim::SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  const sim::SimulateOptions options{.seed = 1};
  sim::JobSetting setting{.input = input, .options = options};
  setting.dealer = *hash_from_hex((*net::read_secret(words[3])).substr(0, 64));
  for (int i = 4; i < count; ++i) {
    const auto policy = *charter::read_policy(words[i]);
    const size_t place = input.owners.size();
    check(charter.owners[place].name == policy.owner);
    const charter::Dataset* data = *policy.dataset_for(charter);
    const auto own = *net::aligned_rows(policy, *data, charter, place);
    input.owners.push_back({own.rows, "", own.alignment.hash()});
    const auto key = *net::signing_key(policy, charter);
    setting.secrets.push_back(
        protocol::own_secret(key.sign(protocol::own_secret_text(charter.hash))));
  }
  const auto run = sim::run_job(setting);
  if (!run) log_line(describe(run.error()));
  if (!run) return 1;
  for (const auto& part : run->parts) {
    for (const double value : part) std::printf("%.17g ", value);
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  data::this_program_is_ours();
  if (count == 2 && std::string(words[1]) == "driver") data::serve_driver();
  if (count > 4 && std::string(words[1]) == "replay") return replay(count, words);
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
    (charter->protocol.learners.graph.empty() ? options.dial : options.listen) = words[3];
    const auto ends = net::serve(*policy, options, entropy, clock, stop, log_line);
    if (!ends) log_line(describe(ends.error()));
    if (!ends || !ends->front().model) return 1;
  }
  return 0;
}
