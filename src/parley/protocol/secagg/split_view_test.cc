// An active learner against secure aggregation: it shows owners different lists of survivors, picks
// survivors by where they stand in the graph, or tries to choose the graph. Numbers are the
// charter's defaults, nobody colludes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "parley/protocol/federated/group.h"
#include "parley/protocol/secagg/aggregation_server.h"
#include "support/bounded.h"
#include "support/entropy.h"
#include "support/federated_job.h"

namespace parley::protocol {
namespace split_view_test {

AggregationPlan default_plan(size_t owners) {
  return AggregationGroup::of(test::clinics_charter(owners))->plan(1, 3);
}

/// All owners have sent their masked vectors; what follows is the learner's to choose.
struct Masked {
  AggregationPlan plan;
  test::SeededEntropy entropy{1, "split"};
  std::vector<SigningKey> signing{};
  std::vector<std::unique_ptr<AggregationMember>> members{};
  std::vector<Keys> keys{};
  Numbers numbers{};
  std::vector<std::vector<uint64_t>> vectors{}, masked{};

  explicit Masked(AggregationPlan of) : plan(std::move(of)) {
    for (size_t i = 0; i < owners(); ++i) signing.push_back(test::clinic_key(i));
    AggregationServer server(plan);
    for (size_t i = 0; i < owners(); ++i) {
      members.push_back(std::make_unique<AggregationMember>(plan, i, signing[i], entropy));
      keys.push_back(*members[i]->begin());
      check(bool(server.take(keys.back())));
      vectors.push_back({i, 7 * i, 1000 + i});
    }
    const Commitments everyones = *server.close_keys();
    for (size_t i = 0; i < owners(); ++i) {
      const Reveal reveal = *members[i]->reveal(everyones);
      numbers.emplace(i, reveal.number);
      check(bool(server.take(i, reveal)));
    }
    const auto shown = *server.close_reveals();
    for (size_t i = 0; i < owners(); ++i)
      check(bool(server.take(i, *members[i]->share(shown.at(i)))));
    const auto shares = *server.close_shares();
    for (size_t i = 0; i < owners(); ++i)
      masked.push_back(privacy::MaskForTest::on(*members[i]->mask(shares.at(i)), vectors[i]));
  }

  size_t owners() const { return plan.members.size(); }

  Survivors all_but(const std::set<size_t>& gone) const {
    Survivors survivors;
    for (size_t i = 0; i < owners(); ++i)
      if (!gone.contains(i)) survivors.members.push_back(i);
    return survivors;
  }

  /// Neighbours stand side by side.
  std::vector<size_t> circle() const {
    const Graph graph = draw_graph(plan, numbers).graph;
    std::vector<size_t> circle{0};
    std::set<size_t> seen{0};
    while (circle.size() < owners()) {
      const std::vector<size_t> last = graph.of(circle.back());
      size_t best = 0, most = 0;
      for (const size_t other : last) {
        if (seen.contains(other)) continue;
        const std::vector<size_t> near = graph.of(other);
        const size_t common = 1 + size_t(std::count_if(near.begin(), near.end(), [&](size_t one) {
                                return std::binary_search(last.begin(), last.end(), one);
                              }));
        if (common > most) most = common, best = other;
      }
      circle.push_back(best);
      seen.insert(best);
    }
    return circle;
  }

  /// Shows each member its list, passes on all consents to the same list, and keeps what members
  /// then give out of `victim`: shares of its seed, and of its key.
  std::pair<std::vector<SecretShare>, std::vector<SecretShare>> open(
      const std::map<size_t, Survivors>& views, size_t victim) {
    std::map<std::vector<size_t>, std::vector<Consent>> consents;
    for (const auto& [i, view] : views)
      if (const auto consent = members[i]->consent(view))
        consents[view.members].push_back(*consent);
    std::pair<std::vector<SecretShare>, std::vector<SecretShare>> found;
    for (const auto& [i, view] : views) {
      const auto opened = members[i]->unmask(consents[view.members]);
      if (!opened) continue;
      for (const auto& share : opened->shares)
        if (share.of == victim) (share.of_key ? found.second : found.first).push_back(share.share);
    }
    return found;
  }
};

TEST(ActiveLearner, TwoListsOfSurvivorsOpenNothing) {
  Masked job(default_plan(100));
  const std::vector<size_t> circle = job.circle();
  const size_t victim = circle[0];
  std::map<size_t, Survivors> views;
  for (size_t at = 0; at < job.owners(); ++at)  // Every other one of anyone's neighbours.
    views.emplace(circle[at], at % 2 ? job.all_but({victim}) : job.all_but({}));
  const auto [of_seed, of_key] = job.open(views, victim);
  EXPECT_TRUE(of_seed.empty() && of_key.empty()) << of_seed.size() << ", " << of_key.size();
}

/// With thresholds as they were, and consents of neighbours alone, the same opens the vector bit
/// for bit: the test above tests something.
TEST(ActiveLearner, TwoListsWithAThresholdOfHalfOpenTheVector) {
  AggregationPlan plan = default_plan(60);
  plan.degree = 40, plan.threshold = 20, plan.consents = 20;
  Masked job(plan);
  const std::vector<size_t> circle = job.circle();
  const size_t victim = circle[0];
  std::map<size_t, Survivors> views;
  for (size_t at = 0; at < job.owners(); ++at)
    views.emplace(circle[at], at % 2 ? job.all_but({victim}) : job.all_but({}));
  const auto [of_seed, of_key] = job.open(views, victim);
  const auto seed = join_shares(of_seed, plan.threshold);
  const auto secret = join_shares(of_key, plan.threshold);
  ASSERT_TRUE(seed && secret);
  std::vector<uint64_t> vector = job.masked[victim];
  take_mask(*seed, vector);
  const AgreementKey key = AgreementKey::from(*secret);
  const Drawn drawn = draw_graph(plan, job.numbers);
  for (const size_t near : drawn.graph.of(victim)) {
    const auto agreed = key.agree(job.keys[near].mask_key, "mask", drawn.context);
    near > victim ? take_mask(*agreed, vector) : add_mask(*agreed, vector);
  }
  EXPECT_EQ(vector, job.vectors[victim]);
}

/// Lists that are the same for everyone's neighbours, but not for all: each is short of some, and
/// together of more than the noise is for.
TEST(ActiveLearner, AListForEachSideOfTheCircleOpensNothing) {
  Masked job(default_plan(60));
  const std::vector<size_t> circle = job.circle();
  std::set<size_t> left, right;
  for (size_t k = 0; k < 6; ++k) left.insert(circle[2 * k + 1]), right.insert(circle[31 + 2 * k]);
  std::map<size_t, Survivors> views;
  for (size_t at = 0; at < job.owners(); ++at) {
    const auto& gone = at < 30 ? left : right;
    if (!gone.contains(circle[at])) views.emplace(circle[at], job.all_but(gone));
  }
  const auto [of_seed, of_key] = job.open(views, circle[15]);
  EXPECT_TRUE(of_seed.empty() && of_key.empty());
}

/// Survivors between two gaps would add up apart from all others.
TEST(ActiveLearner, SurvivorsThatAGapDividesAreNotConsentedTo) {
  AggregationPlan plan = default_plan(60);
  plan.survivors = 30, plan.threshold = plan.degree / 2 - plan.stretch;  // Nothing else refuses.
  Masked job(plan);
  const std::vector<size_t> circle = job.circle();
  std::set<size_t> gone;
  for (size_t k = 0; k < plan.degree / 2 - plan.stretch; ++k) gone.insert(circle[k]);
  const auto divided = job.members[circle[50]]->consent(job.all_but(gone));
  ASSERT_FALSE(divided);
  EXPECT_NE(divided.error().what.find("divide"), std::string::npos) << divided.error().what;
  gone.erase(circle[0]);
  EXPECT_TRUE(job.members[circle[51]]->consent(job.all_but(gone)));
}

/// Charter and attempt say nothing about the graph, a learner that knows all numbers but one cannot
/// draw it, and once it knows that one it can change no other.
TEST(ActiveLearner, CannotChooseTheGraph) {
  constexpr size_t kOwners = 60;
  const AggregationPlan plan = default_plan(kOwners);
  test::SeededEntropy entropy(2, "graph");
  const SigningKey key = test::clinic_key(0);
  AggregationMember honest(plan, 0, key, entropy), other(plan, 0, key, entropy);
  const Keys keys = *honest.begin(), others = *other.begin();
  EXPECT_NE(keys.commitment, others.commitment);
  const auto commitments = [&](const Keys& of, uint8_t chosen) {
    std::map<size_t, Hash> all{{0, of.commitment}};
    for (size_t i = 1; i < kOwners; ++i)
      all.emplace(i, commitment_to(plan.context(), i, Hash{chosen}));
    return commitments_to(plan.context(), all);
  };
  const auto numbers = [&](const Reveal& own, uint8_t chosen) {
    Numbers all{{0, own.number}};
    for (size_t i = 1; i < kOwners; ++i) all.emplace(i, Hash{chosen});
    return all;
  };
  const Reveal first = *honest.reveal(commitments(keys, 1));
  const Reveal second = *other.reveal(commitments(others, 1));
  EXPECT_NE(draw_graph(plan, numbers(first, 1)).graph.of(0),
            draw_graph(plan, numbers(second, 1)).graph.of(0));
  const auto refused = honest.share({.numbers = numbers(first, 2)});  // A better one, found later.
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("committed"), std::string::npos) << refused.error().what;
  const auto without = other.share({.numbers = numbers({Hash{9}}, 1)});
  ASSERT_FALSE(without);
  EXPECT_FALSE(other.share({.numbers = numbers(second, 1)})) << "asked twice";
}

}  // namespace split_view_test
}  // namespace parley::protocol
