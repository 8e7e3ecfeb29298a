// Times the masks of secure aggregation: secagg_bench [REPEATS]; bench/secagg.py compares.
//
// For (members, words) it prints one JSON line: milliseconds in which one member of a complete
// graph masks its vector, agreements left out and with them, the server takes the masks of all off,
// and one member draws its share of the noise. Then for 10, 100 and 1,000 members (the last only
// with a second argument), a fifth of whom may collude, one whole aggregation with the neighbours,
// threshold and consents of plan/learner/neighbours.h: milliseconds of one member, and of the
// server.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/plan/learner/neighbours.h"
#include "parley/privacy/noise.h"
#include "parley/protocol/secagg/aggregation_server.h"
#include "parley/protocol/secagg/secrets.h"

namespace {

using namespace parley;
using namespace parley::protocol;

double best_ms(int repeats, const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void run(size_t members, size_t words, int repeats) {
  SystemEntropy entropy;
  std::vector<Secret32> seeds;
  for (size_t i = 0; i < members; ++i) seeds.push_back(draw_secret(entropy));
  std::vector<AgreementKey> keys;
  for (size_t i = 0; i < members; ++i) keys.push_back(AgreementKey::draw(entropy));
  std::vector<uint64_t> vector(words);
  const auto mask = [&] {
    add_mask(seeds[0], vector);
    for (size_t i = 1; i < members; ++i)
      i % 2 ? add_mask(seeds[i], vector) : take_mask(seeds[i], vector);
  };
  const auto agree = [&] {
    for (size_t i = 1; i < members; ++i)
      check(bool(keys[0].agree(keys[i].public_key(), "mask", Hash{})));
  };
  const auto unmask = [&] {
    for (const Secret32& seed : seeds) take_mask(seed, vector);
  };
  const privacy::DiscreteGaussian gaussian(uint64_t{1} << 40);
  std::vector<int64_t> noise(words);
  const auto draw = [&] {
    for (int64_t& each : noise) each = gaussian.sample(entropy);
  };
  std::printf(
      "{\"members\": %zu, \"words\": %zu, \"mask\": %.4f, \"agree\": %.4f, \"unmask\": %.4f, "
      "\"noise\": %.4f}\n",
      members, words, best_ms(repeats, mask), best_ms(std::min(repeats, 5), agree),
      best_ms(repeats, unmask), best_ms(std::min(repeats, 3), draw));
}

AggregationPlan plan_of(size_t members, size_t words, const std::vector<SigningKey>& keys) {
  const size_t colluders = members / 5;
  const auto near = members > 50 ? plan::sparse_neighbours(members, colluders, members / 10)
                                 : std::optional(plan::Neighbours{0, 7, 7, 0});
  check(near.has_value());
  AggregationPlan plan{.members = {},
                       .words = words,
                       .threshold = near->threshold,
                       .survivors = members - members / 10,
                       .consents = near->consents,
                       .degree = near->degree,
                       .stretch = near->stretch};
  for (size_t i = 0; i < members; ++i)
    plan.members.push_back({"owner-" + std::to_string(i), keys[i].public_key()});
  return plan;
}

/// Processor time that is spent on one side: other members are not waited for.
struct Spent {
  double ms = 0;
  template <class Work>
  auto operator()(const Work& work) {
    const std::clock_t start = std::clock();
    auto done = work();
    ms += 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC;
    check(bool(done));
    return *std::move(done);
  }
};

/// What an owner's masked vector is made of is not measured here: `run` has that.
void whole(size_t members, size_t words) {
  SystemEntropy entropy;
  std::vector<SigningKey> keys;
  for (size_t i = 0; i < members; ++i) keys.push_back(SigningKey::make());
  const AggregationPlan plan = plan_of(members, words, keys);
  AggregationServer server(plan);
  std::vector<std::unique_ptr<AggregationMember>> all;
  Spent member, central;
  const auto take = [&](const auto&... message) {
    central([&]() -> Result<int> {
      TRY(server.take(message...));
      return 0;
    });
  };
  for (size_t i = 0; i < members; ++i) {
    all.push_back(std::make_unique<AggregationMember>(plan, i, keys[i], entropy));
    take(member([&] { return all[i]->begin(); }));
  }
  const Commitments everyones = central([&] { return server.close_keys(); });
  for (size_t i = 0; i < members && plan.degree > 0; ++i)
    take(i, member([&] { return all[i]->reveal(everyones); }));
  const auto shown = central([&] { return server.close_reveals(); });
  for (const auto& [i, list] : shown) take(i, member([&] { return all[i]->share(list); }));
  const auto shares = central([&] { return server.close_shares(); });
  for (const auto& [i, list] : shares) {
    member([&] { return all[i]->mask(list); });
    take(i, std::vector<uint64_t>(words));
  }
  const Survivors survivors = central([&] { return server.close_masked(); });
  for (size_t i = 0; i < members; ++i) take(member([&] { return all[i]->consent(survivors); }));
  const auto consents = central([&] { return server.close_consents(); });
  for (size_t i = 0; i < members; ++i) take(i, member([&] { return all[i]->unmask(consents); }));
  central([&] { return server.open_sum(); });
  std::printf(
      "{\"whole\": %zu, \"words\": %zu, \"neighbours\": %zu, \"threshold\": %zu, "
      "\"consents\": %zu, \"member\": %.2f, \"server\": %.1f}\n",
      members, words, plan.neighbours(), plan.threshold, plan.consents, member.ms / double(members),
      central.ms);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 20;
  run(10, 100'000, repeats);
  run(100, 1'000, repeats);
  whole(10, 1'000);
  whole(100, 1'000);
  if (argc > 2) whole(1'000, 1'000);
}
