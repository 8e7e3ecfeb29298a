#include "parley/audit/sharing_target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "parley/charter/available.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/learn/sharing/integer_rows.h"
#include "parley/learn/sharing/joint_gradient.h"
#include "parley/protocol/sharing/sharing_learner.h"
#include "parley/protocol/sharing/sharing_owner.h"
#include "parley/sim/noisy_sharing.h"
#include "parley/sim/party.h"
#include "parley/sim/sharing.h"
#include "parley/sim/world.h"

namespace parley::audit {
namespace {

using charter::Charter;

constexpr size_t kOthers = 600, kFew = 4, kColumns = 2, kControl = 16;
constexpr double kLoud = 100;
constexpr double kShort = .25;  // of the others' records: they pull the model to the ball's edge

/// The charter over few records and two columns of every owner.
Charter narrowed(Charter charter, size_t records) {
  charter.records->count = static_cast<int64_t>(records);
  charter.schema.bias = false;
  charter.schema.columns.clear();
  charter.column_owners.clear();
  for (charter::Owner& owner : charter.owners) {
    owner.rows = charter.records->count;
    for (size_t j = 0; j < kColumns; ++j) {
      charter.schema.columns.push_back(
          {.name = owner.name + std::to_string(j), .low = -1, .high = 1});
      charter.column_owners.push_back(owner.name);
    }
  }
  return charter;
}

/// Of one owner: the first `changed` records lie along the model, or across it.
std::shared_ptr<const learn::Rows> rows_of(double norm, size_t changed, World world) {
  auto rows = std::make_shared<learn::Rows>(kColumns);
  for (size_t i = 0; i < kOthers + kControl; ++i) {
    if (i >= changed)
      rows->add(std::vector{kShort * norm, 0.}, -1);
    else if (world == World::kFirst)
      rows->add(std::vector{2 * norm, 0.}, 1);
    else
      rows->add(std::vector{0., 2 * norm}, 1);
  }
  return rows;
}

struct Worlds {
  Charter charter;
  gate::SharingTerms terms;
  size_t changed = 1;
  /// The same records as the training sees them, for each world and owner.
  std::vector<learn::IntegerRows> exact[2]{};
};

Result<Worlds> worlds_of(const Charter& whole, size_t changed) {
  Charter charter = narrowed(whole, kOthers + kControl);
  auto terms = TRY(gate::sharing_terms(charter));
  Worlds worlds{std::move(charter), std::move(terms), changed};
  for (const World world : {World::kFirst, World::kSecond})
    for (const double norm : worlds.terms.plan.row_norms)
      worlds.exact[world == World::kSecond].emplace_back(rows_of(norm, changed, world),
                                                         worlds.terms.plan.bits, norm);
  return worlds;
}

struct Played {
  std::vector<std::vector<std::vector<int64_t>>> opened{};  // by owner, by round
  std::vector<double> epsilon{};                            // by owner
};

/// A whole job: every message is carried to its receiver until all is done.
Result<Played> play(const Worlds& worlds, World world, Entropy& entropy) {
  const Charter& charter = worlds.charter;
  const uint64_t seed = entropy.word();
  std::vector<std::unique_ptr<sim::Party>> parties;
  std::vector<std::unique_ptr<protocol::Owner>> owners;
  for (size_t m = 0; m < charter.owners.size(); ++m) {
    parties.push_back(TRY(
        sim::Party::make({.charter = charter,
                          .owner = m,
                          .rows = rows_of(worlds.terms.plan.row_norms[m], worlds.changed, world),
                          .policy = nullptr,
                          .seed = seed,
                          .run = 0,
                          .ledger = {},
                          .threads = 1})));
    owners.push_back(TRY(sim::sharing_process(*parties[m], charter, Hash{}, seed, 0, {})));
  }
  auto plan = TRY(protocol::sharing_plan(charter));
  protocol::SharingLearner learner(std::move(plan), protocol::draw_secret(entropy));
  std::deque<protocol::Outgoing> post;
  const auto hear = [&](size_t owner, const Bytes& message) -> Result<void> {
    protocol::Step step = TRY(learner.step(owner, message));
    for (protocol::Outgoing& out : step.messages) post.push_back(std::move(out));
    return {};
  };
  for (size_t m = 0; m < owners.size(); ++m) {
    learner.attend(m);
    TRY(hear(m, owners[m]->connect()));
  }
  for (; !post.empty(); post.pop_front()) {
    const size_t m = post.front().owner;
    if (const auto reply = TRY(owners[m]->step(post.front().message))) TRY(hear(m, *reply));
    while (const auto more = owners[m]->more()) TRY(hear(m, *more));
  }
  check(learner.finished());
  Played played;
  for (size_t m = 0; m < owners.size(); ++m) {
    played.opened.push_back(dynamic_cast<protocol::SharingOwner&>(*owners[m]).gradients());
    played.epsilon.push_back(parties[m]->epsilon_spent());
  }
  return played;
}

/// The exact gradients, of all owners, at these points.
std::vector<std::vector<double>> exact_at(const Worlds& worlds, World world,
                                          const std::vector<learn::PartyDescent>& at) {
  const auto& rows = worlds.exact[world == World::kSecond];
  const learn::JointPlan& plan = worlds.terms.plan;
  std::vector<uint64_t> all(plan.rows);
  for (size_t m = 0; m < rows.size(); ++m) {
    const auto scores =
        rows[m].scores(at[m].point(), plan.scale, plan.fraction, plan.row_norms[m] * plan.balls[m]);
    for (size_t i = 0; i < all.size(); ++i) all[i] += static_cast<uint64_t>(scores[i]);
  }
  for (size_t i = 0; i < all.size(); ++i)
    all[i] -= static_cast<uint64_t>((i < worlds.changed ? 1 : -1) * (int64_t{1} << plan.fraction));
  std::vector<std::vector<double>> sums;
  for (const learn::IntegerRows& part : rows) {
    sums.emplace_back();
    for (const uint64_t word : part.combination(all))
      sums.back().push_back(static_cast<double>(static_cast<int64_t>(word)));
  }
  return sums;
}

/// The log of the likelihood ratio of all that was opened: no statistic tells more.
double score(const Worlds& worlds, const Played& played) {
  const gate::SharingTerms& terms = worlds.terms;
  std::vector<learn::PartyDescent> at;
  for (const double ball : terms.plan.balls) at.emplace_back(terms.steps, kColumns, ball);
  double total = 0;
  for (uint32_t round = 0; round < terms.rounds; ++round) {
    const auto first = exact_at(worlds, World::kFirst, at);
    const auto second = exact_at(worlds, World::kSecond, at);
    for (size_t m = 0; m < at.size(); ++m) {
      std::vector<double> gradient;
      for (size_t j = 0; j < kColumns; ++j) {
        const double opened = static_cast<double>(played.opened[m][round][j]);
        const double middle = (first[m][j] + second[m][j]) / 2;
        total += (opened - middle) * (second[m][j] - first[m][j]) / terms.noise.variance();
        gradient.push_back(opened * terms.plan.unit());
      }
      at[m].take(gradient, terms.plan.rows);
    }
  }
  return total;
}

Play play_of(Worlds worlds) {
  auto shared = std::make_shared<const Worlds>(std::move(worlds));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    return score(*shared, TRY(play(*shared, world, entropy)));
  };
}

// Rule statistics: one release, of whole records.

/// The first `changed` records have the other class in the second world: with rows no longer than
/// the label no two records are farther apart (learn/kernel/statistics_map.h).
Result<sim::SimulateInput> statistics_job(const Charter& whole, size_t payer, size_t changed,
                                          World world) {
  sim::SimulateInput input{
      .charter = narrowed(whole, kFew + kControl), .owners = {}, .pilot = nullptr, .policies = {}};
  for (const charter::Owner& owner : input.charter.owners) {
    auto rows = std::make_shared<learn::Rows>(kColumns);
    for (size_t i = 0; i < kFew + kControl; ++i)
      rows->add(std::vector{2 * owner.max_row_norm, 0.},
                i < changed && world == World::kSecond ? -1 : 1);
    input.owners.push_back({std::shared_ptr<const learn::Rows>(rows), "", {}});
  }
  return sim::joint_statistics(input, payer);
}

struct Statistics {
  sim::SimulateInput jobs[2];
  std::vector<int64_t> exact[2]{};
};

Result<Statistics> statistics_worlds(const Charter& charter, size_t payer, size_t changed) {
  auto first = TRY(statistics_job(charter, payer, changed, World::kFirst));
  auto second = TRY(statistics_job(charter, payer, changed, World::kSecond));
  const auto& rows = *std::get<0>(first.owners[0].rows);
  const auto map = TRY(learn::StatisticsMap<L2>::make(charter.privacy.max_row_norm, 1,
                                                      static_cast<int>(charter.privacy.grid_bits),
                                                      rows.columns()));
  Statistics worlds{{std::move(first), std::move(second)}};
  for (const size_t world : {0, 1}) {
    const auto& in = *std::get<0>(worlds.jobs[world].owners[0].rows);
    worlds.exact[world] = learn::statistics_sum(map, in, 0, in.size());
  }
  return worlds;
}

Result<sim::JobRun> run_statistics(const Statistics& worlds, World world, uint64_t seed) {
  const sim::SimulateOptions options{.seed = seed};
  return sim::run_job({.input = worlds.jobs[world == World::kSecond], .options = options});
}

Play statistics_play(Statistics worlds) {
  auto shared = std::make_shared<const Statistics>(std::move(worlds));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    const auto run = TRY(run_statistics(*shared, world, entropy.word()));
    const std::vector<int64_t>& values = run.journal.at(0).answer.values;
    double total = 0;
    for (size_t j = 0; j < values.size(); ++j)
      total += static_cast<double>(values[j] - shared->exact[0][j]) *
               static_cast<double>(shared->exact[1][j] - shared->exact[0][j]);
    return total;
  };
}

Result<Target> statistics_target(const Charter& charter, size_t owner) {
  const charter::Owner& who = charter.owners[owner];
  Statistics one = TRY(statistics_worlds(charter, owner, 1));
  const auto run = TRY(run_statistics(one, World::kFirst, 1));
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners of the one class or the other, in the released "
                    "moments",
                .claimed = {std::min(run.owners[0].spent.epsilon, who.epsilon), who.delta, true},
                .play = statistics_play(std::move(one)),
                .control = statistics_play(TRY(statistics_worlds(charter, owner, kControl))),
                .control_name = "sixteen records instead of one"};
}

// Rule noisy_sharing: one number per record and round, published by every owner.

Result<sim::SimulateInput> noisy_job(const Charter& whole, World world) {
  sim::SimulateInput input{
      .charter = narrowed(whole, 1 + kFew), .owners = {}, .pilot = nullptr, .policies = {}};
  input.charter.model.l2 *= double(whole.records->count) / (1 + kFew);  // The same for the sum.
  for (const charter::Owner& owner : input.charter.owners) {
    auto rows = std::make_shared<learn::Rows>(kColumns);
    for (size_t i = 0; i < 1 + kFew; ++i) {
      const double way = i == 0 && world == World::kSecond ? -1 : 1;  // Labels are public.
      rows->add(std::vector{way * 2 * owner.max_row_norm, 0.}, 1);
    }
    input.owners.push_back({std::shared_ptr<const learn::Rows>(rows), "", {}});
  }
  return input;
}

using NoisyJobs = std::array<sim::SimulateInput, 2>;

Result<NoisyJobs> noisy_jobs(const Charter& charter) {
  auto first = TRY(noisy_job(charter, World::kFirst));
  auto second = TRY(noisy_job(charter, World::kSecond));
  return NoisyJobs{std::move(first), std::move(second)};
}

/// The likelihood ratio of everything that was published, up to scale.
Play noisy_play(NoisyJobs jobs) {
  auto shared = std::make_shared<const NoisyJobs>(std::move(jobs));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    const sim::SimulateOptions options{.seed = entropy.word()};
    const auto run = TRY(sim::share_noisily((*shared)[world == World::kSecond], options, 0));
    const auto first = TRY(sim::expected_shares((*shared)[0], run.published));
    const auto second = TRY(sim::expected_shares((*shared)[1], run.published));
    double total = 0;
    for (size_t t = 0; t < first.size(); ++t)
      for (size_t m = 0; m < first[t].size(); ++m)
        for (size_t i = 0; i < first[t][m].size(); ++i) {
          const double middle = (double(first[t][m][i]) + double(second[t][m][i])) / 2;
          total +=
              (double(run.published[t][m][i]) - middle) * double(second[t][m][i] - first[t][m][i]);
        }
    return total;
  };
}

/// Every record has numbers of its own here, so that more of them would not show much more; what
/// shows that the attack sees something is less noise.
Result<Target> noisy_target(const Charter& charter, size_t owner) {
  const charter::Owner& who = charter.owners[owner];
  NoisyJobs jobs = TRY(noisy_jobs(charter));
  const auto run = TRY(sim::share_noisily(jobs[0], {}, 0));
  Charter loud = charter;
  for (charter::Owner& each : loud.owners) each.epsilon *= kLoud;
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners, pointing one way or the other, in everything "
                    "that is published",
                .claimed = {std::min(run.epsilon[owner], who.epsilon), who.delta, true},
                .play = noisy_play(std::move(jobs)),
                .control = noisy_play(TRY(noisy_jobs(loud))),
                .control_name = "noise for a budget a hundred times as large"};
}

}  // namespace

Result<Target> sharing_target(const Charter& charter, size_t owner) {
  check(owner < charter.owners.size());
  if (charter.protocol.rule == charter::Rule::kStatistics) return statistics_target(charter, owner);
  if (charter.protocol.rule == charter::Rule::kNoisySharing) return noisy_target(charter, owner);
  if (charter.protocol.rule != charter::Rule::kGradients)
    return charter::not_available("protocol.rule", name_of(charter.protocol.rule),
                                  "Use \"gradients\" or \"statistics\".");
  const charter::Owner& who = charter.owners[owner];
  Worlds one = TRY(worlds_of(charter, 1)), four = TRY(worlds_of(charter, kControl));
  SystemEntropy entropy;
  const Played played = TRY(play(one, World::kFirst, entropy));
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners along the model or across it, by everyone who "
                    "sees all opened gradients",
                .claimed = {std::min(played.epsilon[owner], who.epsilon), who.delta, true},
                .play = play_of(std::move(one)),
                .control = play_of(std::move(four)),
                .control_name = "sixteen records instead of one"};
}

}  // namespace parley::audit
