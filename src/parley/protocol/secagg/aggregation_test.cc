#include "parley/protocol/secagg/aggregation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>

#include "parley/plan/learner/neighbours.h"
#include "parley/protocol/secagg/aggregation_server.h"
#include "support/bounded.h"
#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::protocol {
namespace aggregation_test {

enum Stage { kKeys, kReveal, kShares, kMasked, kConsent, kUnmask, kNever };

AggregationPlan plan_of(size_t members, size_t threshold, size_t survivors, size_t words,
                        const std::vector<SigningKey>& keys) {
  AggregationPlan plan{.round = 7,
                       .members = {},
                       .words = words,
                       .threshold = threshold,
                       .survivors = survivors,
                       .consents = threshold};
  for (size_t i = 0; i < members; ++i)
    plan.members.push_back({"owner-" + std::to_string(i), keys[i].public_key()});
  return plan;
}

std::vector<SigningKey> keys_for(size_t members) {
  std::vector<SigningKey> keys;
  for (size_t i = 0; i < members; ++i) keys.push_back(SigningKey::make());
  return keys;
}

/// All members and the server in one place; what travels can be changed on the way.
class Job {
 public:
  Job(const AggregationPlan& plan, const std::vector<SigningKey>& keys, uint64_t seed = 1)
      : plan_(plan), entropy_(seed, "aggregation"), server(plan) {
    for (size_t i = 0; i < plan.members.size(); ++i) {
      members.push_back(std::make_unique<AggregationMember>(plan, i, keys[i], entropy_));
      vectors.emplace_back(plan.words);
      for (uint64_t& word : vectors.back()) word = entropy_.word() >> 20;
    }
    last.assign(plan.members.size(), kNever);
  }

  /// Runs all phases; member i sends nothing from stage last[i] on.
  Result<std::vector<int64_t>> run() {
    const auto there = [&](size_t i, Stage stage) { return last[i] > stage; };
    for (size_t i = 0; i < members.size(); ++i)
      if (there(i, kKeys)) TRY(server.take(TRY(members[i]->begin())));
    Commitments everyones = TRY(server.close_keys());
    on_commitments(everyones);
    for (const auto& [i, sent] : server.keys())
      if (plan_.degree > 0 && there(i, kReveal))
        TRY(server.take(i, TRY(members[i]->reveal(everyones))));
    auto keys = TRY(server.close_reveals());
    on_keys(keys);
    for (auto& [i, shown] : keys) {
      if (!there(i, kShares)) continue;
      auto shares = TRY(members[i]->share(shown));
      TRY(server.take(i, shares));
    }
    auto shares = TRY(server.close_shares());
    on_shares(shares);
    for (auto& [i, received] : shares) {
      if (!there(i, kMasked)) continue;
      const auto mask = TRY(members[i]->mask(received));
      TRY(server.take(i, privacy::MaskForTest::on(mask, vectors[i])));
    }
    const Survivors survivors = TRY(server.close_masked());
    for (const size_t i : survivors.members)
      if (there(i, kConsent))
        TRY(server.take(TRY(members[i]->consent(on_survivors(i, survivors)))));
    const auto consents = TRY(server.close_consents());
    for (const auto& [i, own] : server.consents()) {
      if (!there(i, kUnmask)) continue;
      std::vector<Consent> shown = consents;
      if (i == 0) on_consents(shown);
      const Unmask unmask = TRY(members[i]->unmask(shown));
      never_both(i, unmask);
      TRY(server.take(i, unmask));
    }
    return server.open_sum();
  }

  std::vector<int64_t> expected() const {
    std::vector<uint64_t> sum(plan_.words);
    for (size_t i = 0; i < members.size(); ++i)
      if (last[i] > kMasked)
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += vectors[i][k];
    return {sum.begin(), sum.end()};
  }

  std::function<void(Commitments&)> on_commitments = [](auto&) {};
  std::function<void(std::map<size_t, NeighbourKeys>&)> on_keys = [](auto&) {};
  std::function<void(std::map<size_t, std::vector<SealedShares>>&)> on_shares = [](auto&) {};
  std::function<Survivors(size_t, const Survivors&)> on_survivors = [](size_t, const Survivors& s) {
    return s;
  };
  std::function<void(std::vector<Consent>&)> on_consents = [](auto&) {};  // to the first member

 private:
  static void never_both(size_t member, const Unmask& unmask) {
    std::set<size_t> seen;
    for (const Unmask::Share& share : unmask.shares)
      EXPECT_TRUE(seen.insert(share.of).second) << "both shares of one, by " << member;
  }

  const AggregationPlan& plan_;
  test::SeededEntropy entropy_;

 public:
  AggregationServer server;
  std::vector<std::unique_ptr<AggregationMember>> members;
  std::vector<std::vector<uint64_t>> vectors;
  std::vector<Stage> last;
};

constexpr Stage kLeaving[] = {kNever, kMasked, kUnmask, kShares, kKeys, kConsent};

/// Every way in which each member stays or leaves, at one of the first stages above.
void every_survivor_set(size_t members, size_t threshold, size_t survivors, size_t stages) {
  const auto keys = keys_for(members);
  const AggregationPlan plan = plan_of(members, threshold, survivors, 5, keys);
  ASSERT_TRUE(plan.valid());
  size_t ways = 1, opened = 0;
  for (size_t i = 0; i < members; ++i) ways *= stages;
  for (size_t way = 0; way < ways; ++way) {
    Job job(plan, keys, way);
    size_t rest = way, masked = 0, to_the_end = 0;
    for (Stage& last : job.last) {
      last = kLeaving[rest % stages];
      masked += last > kMasked, to_the_end += last == kNever;
      rest /= stages;
    }
    const auto sum = job.run();
    // With a complete graph every member needs `threshold` others at each step.
    const bool must_open = masked >= survivors && to_the_end >= threshold + 1;
    EXPECT_TRUE(sum || !must_open) << way;
    EXPECT_TRUE(!sum || masked >= survivors) << way;
    opened += bool(sum);
    if (sum) {
      EXPECT_EQ(*sum, job.expected()) << way;
    }
  }
  EXPECT_GT(opened, 0u);
}

TEST(SecureAggregation, EverySurvivorSetOfThree) { every_survivor_set(3, 2, 2, 6); }
TEST(SecureAggregation, EverySurvivorSetOfSix) { every_survivor_set(6, 3, 4, 2); }

/// Many members, a sparse graph, dropouts at every stage, in random order or the worst: all from
/// one neighbourhood.
void many(size_t members, size_t sets, size_t words) {
  const auto keys = keys_for(members);
  AggregationPlan plan = plan_of(members, 0, members * 9 / 10, words, keys);
  const auto near = plan::sparse_neighbours(members, members / 5, members / 10);
  ASSERT_TRUE(near);
  plan.threshold = near->threshold;
  plan.consents = near->consents;
  plan.degree = near->degree;
  plan.stretch = near->stretch;
  test::SeededEntropy entropy(members, "sets");
  for (size_t set = 0; set < sets; ++set) {
    plan.job[0] = static_cast<uint8_t>(set);
    Job job(plan, keys, set);
    constexpr Stage kLeave[] = {kKeys, kShares, kMasked, kConsent, kUnmask};
    for (size_t k = 0; k < members / 10; ++k)
      job.last[entropy.word() % members] = kLeave[entropy.word() % 5];
    const auto sum = job.run();
    ASSERT_TRUE(sum) << describe(sum.error());
    EXPECT_EQ(*sum, job.expected());
  }
}

/// 200 random sets take minutes: PARLEY_THOROUGH=1.
TEST(SecureAggregation, HundredMembersWithDropouts) {
  many(100, std::getenv("PARLEY_THOROUGH") ? 200 : 1, 10);
}
TEST(SecureAggregation, ThousandMembersWithDropouts) {
  if (!std::getenv("PARLEY_THOROUGH")) GTEST_SKIP() << "minutes; set PARLEY_THOROUGH=1";
  many(1000, 3, 10);
}

TEST(SecureAggregation, GraphsAreMutualAndRegular) {
  Hash seed{};
  for (const auto& graph : {Graph::complete(7), Graph::regular(61, 8, seed)}) {
    for (size_t i = 0; i < graph.members(); ++i) {
      EXPECT_EQ(graph.of(i).size(), graph.of(0).size());
      const std::vector<size_t> near = graph.of(i);
      EXPECT_TRUE(std::is_sorted(near.begin(), near.end()));
      EXPECT_FALSE(graph.place(i, i));
      for (const size_t j : graph.of(i)) EXPECT_TRUE(graph.place(j, i));
    }
  }
  const Graph first = Graph::regular(61, 8, seed);
  seed[0] = 1;
  EXPECT_NE(first.of(0), Graph::regular(61, 8, seed).of(0));
}

/// False alarms: 1e-9.
TEST(SecureAggregation, OneMaskedVectorLooksUniform) {
  const auto keys = keys_for(3);
  const AggregationPlan plan = plan_of(3, 2, 3, 1 << 17, keys);
  Job job(plan, keys);
  for (auto& vector : job.vectors) std::fill(vector.begin(), vector.end(), 0);
  std::vector<uint64_t> seen;
  ASSERT_TRUE(job.server.take(*job.members[0]->begin()));
  ASSERT_TRUE(job.server.take(*job.members[1]->begin()));
  ASSERT_TRUE(job.server.take(*job.members[2]->begin()));
  ASSERT_TRUE(job.server.close_keys());
  auto shown = *job.server.close_reveals();
  for (auto& [i, keys_shown] : shown)
    ASSERT_TRUE(job.server.take(i, *job.members[i]->share(keys_shown)));
  auto shares = *job.server.close_shares();
  const auto mask = job.members[0]->mask(shares[0]);
  seen = privacy::MaskForTest::on(*mask, job.vectors[0]);
  std::vector<double> counts(256);
  for (const uint64_t word : seen)
    for (int byte = 0; byte < 8; ++byte) ++counts[word >> 8 * byte & 255];
  double chi = 0;
  const double mean = double(8 * seen.size()) / 256;
  for (const double count : counts) chi += (count - mean) * (count - mean) / mean;
  EXPECT_LT(chi, 255 + 6.2 * std::sqrt(2 * 255.) + 30);  // 1 - 1e-9 quantile is below 413.
}

struct Attack {
  const char* name;
  std::function<void(Job&)> arm;
  const char* words;  // in the error
};

/// An active server, or someone on the way: each attempt is noticed, named and ends in nothing.
TEST(SecureAggregation, WhatAServerMayTryIsNoticed) {
  const auto keys = keys_for(5);
  const AggregationPlan plan = plan_of(5, 3, 4, 3, keys);
  const SigningKey stranger = SigningKey::make();
  AggregationPlan other = plan;
  other.round = 8;
  const Attack attacks[] = {
      {"a key of the server's own",
       [&](Job& job) {
         job.on_keys = [&](auto& shown) {
           test::SeededEntropy entropy(9, "server");
           shown[0].keys[1].mask_key = AgreementKey::draw(entropy).public_key();
         };
       },
       "has not signed"},
      {"keys signed by a stranger",
       [&](Job& job) {
         job.on_keys = [&](auto& shown) {
           Keys& target = shown[0].keys[0];
           target.signature = stranger.sign(keys_bytes(plan.context(), target));
         };
       },
       "has not signed"},
      {"keys of another round",
       [&](Job& job) {
         job.on_keys = [&](auto& shown) {
           Keys& target = shown[0].keys[0];
           target.signature = keys[target.member].sign(keys_bytes(other.context(), target));
         };
       },
       "for this round"},
      {"keys twice",
       [](Job& job) { job.on_keys = [](auto& shown) { shown[0].keys[1] = shown[0].keys[0]; }; },
       "twice"},
      {"too few neighbours",
       [](Job& job) { job.on_keys = [](auto& shown) { shown[0].keys.resize(2); }; }, "are needed"},
      {"a share that was changed",
       [](Job& job) { job.on_shares = [](auto& shares) { shares[2][0].box[5] ^= 1; }; },
       "changed on the way"},
      {"a share that is cut short",
       [](Job& job) { job.on_shares = [](auto& shares) { shares[2][0].box.resize(9); }; },
       "changed on the way"},
      {"a share for somebody else",
       [](Job& job) { job.on_shares = [](auto& shares) { shares[2][0] = shares[3][0]; }; },
       "not from a neighbour to us"},
      {"a share under another's name",
       [](Job& job) {
         job.on_shares = [](auto& shares) { shares[2][0].from = shares[2][1].from; };
       },
       "changed on the way"},
      {"a share twice",
       [](Job& job) { job.on_shares = [](auto& shares) { shares[2][0] = shares[2][1]; }; },
       "twice"},
      {"survivors without us",
       [](Job& job) {
         job.on_survivors = [](size_t i, const Survivors& all) {
           Survivors less = all;
           std::erase(less.members, i);
           return less;
         };
       },
       "leaves us out"},
      {"too few survivors",
       [](Job& job) {
         job.on_survivors = [](size_t i, const Survivors&) {
           return Survivors{i < 2 ? std::vector<size_t>{0, 1, 2} : std::vector<size_t>{2, 3, i}};
         };
       },
       "survivors"},
      {"different survivors to different members",
       [](Job& job) {
         job.on_survivors = [](size_t i, const Survivors& all) {
           Survivors less = all;
           if (i == 0) less.members.erase(less.members.begin() + 4);
           return less;
         };
       },
       "other survivors"},
      {"another hash of everyone's keys",
       [](Job& job) { job.on_keys = [](auto& shown) { shown[1].everyones[0] ^= 1; }; },
       "made for other keys"},
      {"a forged consent",
       [](Job& job) { job.on_consents = [](auto& shown) { shown[1].signature[0] ^= 1; }; },
       "to other keys or survivors"},
      {"a consent twice",
       [](Job& job) { job.on_consents = [](auto& shown) { shown[1] = shown[2]; }; }, "twice"},
      {"too few consents", [](Job& job) { job.on_consents = [](auto& shown) { shown.resize(2); }; },
       "consents, where"},
  };
  for (const Attack& attack : attacks) {
    Job job(plan, keys);
    attack.arm(job);
    const auto sum = job.run();
    ASSERT_FALSE(sum) << attack.name;
    EXPECT_EQ(sum.error().code, Code::kIntegrity) << attack.name;
    EXPECT_NE(sum.error().what.find(attack.words), std::string::npos)
        << attack.name << ": " << sum.error().what;
  }
}

/// A server that asks again with another list, to get the other share of someone, gets nothing.
TEST(SecureAggregation, NobodyConsentsTwice) {
  const auto keys = keys_for(4);
  const AggregationPlan plan = plan_of(4, 3, 3, 2, keys);
  Job job(plan, keys);
  std::vector<Survivors> shown;
  job.on_survivors = [&](size_t, const Survivors& all) { return shown.push_back(all), all; };
  ASSERT_TRUE(job.run());
  Survivors less = shown[0];
  less.members.pop_back();
  EXPECT_FALSE(job.members[0]->consent(less));
  EXPECT_FALSE(job.members[0]->unmask({}));
}

/// A member in any state, asked anything in any order, gives out at most one share of anyone, and
/// only after it has consented.
TEST(SecureAggregation, RandomCallsNeverRevealBothShares) {
  const auto keys = keys_for(4);
  const AggregationPlan plan = plan_of(4, 3, 3, 2, keys);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::SeededEntropy random(seed, "calls");
    Job job(plan, keys, seed);
    std::map<size_t, NeighbourKeys> shown;
    std::map<size_t, std::vector<SealedShares>> shares;
    for (size_t i = 0; i < 4; ++i) ASSERT_TRUE(job.server.take(*job.members[i]->begin()));
    ASSERT_TRUE(job.server.close_keys());
    shown = *job.server.close_reveals();
    for (size_t i = 1; i < 4; ++i)
      ASSERT_TRUE(job.server.take(i, *job.members[i]->share(shown[i])));
    shares[0] = {};
    std::set<std::pair<size_t, bool>> revealed;
    bool consented = false;
    for (int call = 0; call < 12; ++call) {
      const Survivors some{random.word() % 2 ? std::vector<size_t>{0, 1, 2, 3}
                                             : std::vector<size_t>{0, 1, 2}};
      switch (random.word() % 5) {
        case 0:
          if (const auto sent = job.members[0]->share(shown[0]))
            if (job.server.take(0, *sent))
              if (auto all = job.server.close_shares()) shares = *all;
          break;
        case 1:
          (void)job.members[0]->mask(shares[0]);
          break;
        case 2:
          consented |= bool(job.members[0]->consent(some));
          break;
        case 3: {
          std::vector<Consent> consents;
          for (const size_t i : some.members)
            if (i != 0)
              consents.push_back({i, keys[i].sign(consent_bytes(plan.context(), shown[0].everyones,
                                                                some.members))});
          if (const auto unmask = job.members[0]->unmask(consents)) {
            EXPECT_TRUE(consented);
            for (const auto& share : unmask->shares)
              EXPECT_TRUE(revealed.insert({share.of, share.of_key}).second);
          }
          break;
        }
        default:
          (void)job.members[0]->begin();
      }
    }
    for (size_t i = 1; i < 4; ++i)
      EXPECT_LE(revealed.count({i, true}) + revealed.count({i, false}), 1u);
  }
}

TEST(SecureAggregation, AKeyOfSmallOrderIsRefused) {
  test::SeededEntropy entropy(4, "small");
  const AgreementKey key = AgreementKey::draw(entropy);
  EXPECT_FALSE(key.agree(Hash{}, "mask", Hash{}));
  Hash one{};
  one[0] = 1;
  EXPECT_FALSE(key.agree(one, "mask", Hash{}));
}

TEST(SecureAggregation, PlansThatCannotWorkAreNamed) {
  const auto keys = keys_for(4);
  EXPECT_TRUE(plan_of(4, 3, 3, 1, keys).valid());
  EXPECT_FALSE(plan_of(2, 1, 2, 1, keys).valid());
  EXPECT_FALSE(plan_of(4, 4, 3, 1, keys).valid());
  EXPECT_FALSE(plan_of(4, 1, 3, 1, keys).valid());
  EXPECT_FALSE(plan_of(4, 3, 5, 1, keys).valid());
}

}  // namespace aggregation_test
}  // namespace parley::protocol
