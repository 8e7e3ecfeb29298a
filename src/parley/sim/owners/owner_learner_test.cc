#include "parley/sim/owners/owner_learner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/files.h"
#include "parley/learn/solver/prox.h"
#include "parley/ledger/read.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "support/ledgers.h"
#include "support/owner_charters.h"

namespace parley::sim {
namespace owner_learner_test {

using test::OwnerCharter;

OwnerCharter with(const std::string& more, OwnerCharter charter = {}) {
  charter.protocol += more;
  return charter;
}
OwnerCharter copies(const std::string& how, OwnerCharter charter = {}) {
  charter.learner.clear();
  return with("copies = true\nowner_learner = \"" + how + "\"\n", charter);
}
OwnerCharter statistics(OwnerCharter charter = {}) {
  charter.protocol = "rule = \"statistics\"\n";
  charter.privacy = "max_row_norm = 15.0\nevaluate = 0.0\n";
  return charter;
}
const char kOthersFirst[] = "owner_learner = \"others_first\"\nprox = 1.0\n";
const char kOwnStatistics[] = "owner_learner = \"statistics\"\n";

Result<OwnerLearnerRun> learn(const SimulateInput& input, uint64_t seed,
                              const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  return run_owner_learner({.input = input, .options = options, .faults = faults});
}

/// The same charter with other rows at the learner.
SimulateInput with_other_rows(SimulateInput input, size_t owner) {
  auto other = std::make_shared<data::Rows>(10);
  for (size_t i = 0; i < 300; ++i) other->add(std::vector<double>(10, double(i % 7) - 3), .5);
  input.owners[owner].rows = std::shared_ptr<const data::Rows>(other);
  return input;
}

// B: an owner that learns with its own noise is asked like all others, through its gate and
// ledger, and the model is the one that a party without records would have come to.
TEST(OwnerLearner, WithItsOwnNoiseIsAnOwnerLikeAllOthers) {
  OwnerCharter central;
  central.learner = "[learner]\nname = \"central-bank\"\n";
  const auto before = simulate(central.input(), {.seed = 2});
  const auto result = simulate(with("owner_learner = \"own_noise\"\n").input(), {.seed = 2});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_EQ(result->quality.relative_fitness.mean, before->quality.relative_fitness.mean);
  for (const auto& owner : result->owners) {
    EXPECT_EQ(owner.answers, 5u);
    EXPECT_GT(owner.epsilon_spent, 9.99);
  }
  OwnerCharter async = with("answers = 5\nowner_learner = \"own_noise\"\n");
  async.protocol = "rounds = 20\nstep = 0.1\nowner_learner = \"own_noise\"\n";
  std::string text = async.text();
  text.replace(text.find("name = \"sync\""), 13, "name = \"async\"");
  const auto charter = charter::parse_charter(text, "async", ".");
  ASSERT_TRUE(charter) << describe(charter.error());
  EXPECT_TRUE(simulate(*load_standin(*charter, "lending", 1), {}));
}

// A: what the others are asked, and what they answer, does not depend on the learner's rows at all.
TEST(OwnerLearner, OthersFirstNeverLooksAtTheLearnersRowsBeforeTheLastAnswer) {
  const SimulateInput input = with(kOthersFirst).input();
  const auto one = learn(input, 4), two = learn(with_other_rows(input, 0), 4);
  ASSERT_TRUE(one) << describe(one.error());
  EXPECT_EQ(one->learners[0].shared, two->learners[0].shared);
  EXPECT_NE(one->learners[0].own, two->learners[0].own);
  EXPECT_EQ(one->spent[0].epsilon, 0) << "it is asked nothing, and pays nothing";
  EXPECT_EQ(one->answers[0], 0u);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(one->answers[i], 5u);
    EXPECT_GT(one->spent[i].epsilon, 9.99);
    EXPECT_LE(one->spent[i].epsilon, 10);
  }
}

TEST(OwnerLearner, TheTunedModelIsWrittenNowhere) {
  const auto folder = test::fresh_folder();
  const SimulateInput input = with(kOthersFirst).input();
  const auto result = simulate(input, {.seed = 4, .runs = 3, .out = folder});
  ASSERT_TRUE(result) << describe(result.error());
  ASSERT_EQ(result->quality.own_models.size(), 1u);
  EXPECT_EQ(result->quality.own_models[0].owner, "bank-a");
  EXPECT_FALSE(result->quality.own_models[0].published);
  EXPECT_LT(result->quality.own_models[0].relative_fitness.mean,
            result->quality.relative_fitness.mean)
      << "its exact rows help it here";
  EXPECT_EQ(result->owners[0].joint, result->quality.own_models[0].relative_fitness.mean);
  const std::string model = *read_file(folder / "model.json");
  ASSERT_TRUE(simulate(with_other_rows(input, 0), {.seed = 4, .out = folder}));
  EXPECT_EQ(*read_file(folder / "model.json"), model) << "the file holds the others' model only";
}

/// The stand-in's rates as two classes, above and below the centre.
SimulateInput classes_of(SimulateInput input, charter::Loss loss) {
  for (OwnerData& owner : input.owners) {
    const auto& rows = *std::get<std::shared_ptr<const data::Rows>>(owner.rows);
    auto signs = std::make_shared<data::Rows>(rows.columns());
    for (size_t i = 0; i < rows.size(); ++i) signs->add(rows.row(i), rows.label(i) > 0 ? 1 : -1);
    owner.rows = std::shared_ptr<const data::Rows>(signs);
  }
  input.charter.model.loss = loss;
  return input;
}

TEST(OwnerLearner, RunsWithEveryLoss) {
  using charter::Loss;
  for (Loss loss : {Loss::kSquared, Loss::kHinge, Loss::kLogistic, Loss::kHuber}) {
    OwnerCharter charter = with(kOthersFirst);
    charter.model = "loss = \"squared\"\nl2 = 0.1\nbox = 1.0\n";
    SimulateInput input = charter.input();
    input.charter.model.loss = loss;
    if (loss == Loss::kHinge || loss == Loss::kLogistic) input = classes_of(input, loss);
    for (bool publish : {false, true}) {
      input.charter.protocol.learners.publish = publish;
      const auto run = learn(input, 1);
      ASSERT_TRUE(run) << name_of(loss) << ": " << describe(run.error());
      EXPECT_NE(run->learners[0].own, run->learners[0].shared) << name_of(loss);
    }
  }
}

// A, published: paid by the learner, once, within its budget, and with noise: with a huge epsilon
// it is the clipped tuned model, with a small one it is not.
TEST(OwnerLearner, APublishedModelIsPaidForAndNoisy) {
  for (const char* mechanism : {"laplace", "gaussian"}) {
    OwnerCharter charter = with(std::string(kOthersFirst) + "publish = true\n");
    charter.privacy += "mechanism = \"" + std::string(mechanism) + "\"\n";
    if (std::string(mechanism) == "gaussian") charter.owner_keys = "delta = 1e-6\n";
    charter.epsilon = 1;
    const SimulateInput input = charter.input();
    const auto run = learn(input, 4);
    ASSERT_TRUE(run) << describe(run.error());
    EXPECT_EQ(run->answers[0], 1u);
    EXPECT_LE(run->spent[0].epsilon, 1);
    EXPECT_GT(run->spent[0].epsilon, .99);
    EXPECT_NE(run->learners[0].own, learn(input, 5)->learners[0].own);
  }
  OwnerCharter rich = with(std::string(kOthersFirst) + "publish = true\n");
  rich.epsilon = 1e4;
  const SimulateInput input = rich.input();
  const auto run = learn(input, 4);
  const learn::Prox prox{.center = run->learners[0].shared,
                         .pull = 1,
                         .box = 1,
                         .norm = learn::ClipIn::kL2,
                         .limit = 8};
  const auto exact = learn::prox_minimum(learn::Squared{}, input.owners[0].rows, prox, 1e-9).theta;
  // Scale: sqrt(10) 17/300 / 10^4 = 1.8e-5; ten coordinates beyond 40 scales have probability
  // 4e-17.
  for (size_t j = 0; j < 10; ++j) EXPECT_NEAR(run->learners[0].own[j], exact[j], 40 * 1.8e-5);
}

TEST(OwnerLearner, APublishedModelLeavesItsChargeInTheLearnersLedger) {
  const auto folder = test::fresh_folder();
  const auto result = simulate(with(std::string(kOthersFirst) + "publish = true\n").input(),
                               {.seed = 4, .runs = 2, .out = folder});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_TRUE(result->quality.own_models[0].published);
  EXPECT_EQ(result->quality.by_round.size(), 6u) << "five rounds, and what was published";
  const auto contents = ledger::read(folder / "simulated" / "bank-a" / "ledger.db");
  ASSERT_TRUE(contents) << describe(contents.error());
  EXPECT_EQ(contents->rows.size(), 2u) << "the budget and its model";
  EXPECT_EQ(contents->datasets[0].spent.pure, result->owners[0].epsilon_spent);
}

// C: the others release moments once; with hardly any noise the learner comes to the pooled model.
TEST(OwnerLearner, StatisticsOfOthersAndExactOnesOfItsOwnMakeThePooledModel) {
  OwnerCharter charter = statistics();
  charter.protocol += kOwnStatistics;
  charter.privacy = "max_row_norm = 60.0\nevaluate = 0.0\n";  // No row is that long.
  charter.epsilon = 1e4;
  const auto result = simulate(charter.input(), {.seed = 1});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LT(result->quality.own_models[0].relative_fitness.mean, 2e-3);
  EXPECT_EQ(result->owners[0].epsilon_spent, 0);
  EXPECT_EQ(result->owners[1].answers, 1u);
  charter.epsilon = 1;
  const SimulateInput noisy = charter.input();
  const auto one = learn(noisy, 4), two = learn(with_other_rows(noisy, 0), 4);
  EXPECT_EQ(one->learners[0].shared, two->learners[0].shared);
  EXPECT_NE(one->learners[0].own, two->learners[0].own);
}

// N copies: every owner learns from the N - 1 others, which split their budgets; all charges are in
// one ledger per owner, and add up to no more than its epsilon.
TEST(OwnerLearner, CopiesSplitEveryBudgetAmongTheLearnersThatAsk) {
  for (const char* mechanism : {"laplace", "gaussian"})
    for (const auto& [how, jobs] : {std::pair("others_first", 3u), std::pair("own_noise", 4u)}) {
      OwnerCharter charter = copies(how);
      charter.privacy = "max_grad_norm = 8.0\nevaluate = 0.1\n";
      charter.privacy += "mechanism = \"" + std::string(mechanism) + "\"\n";
      if (std::string(mechanism) == "gaussian") charter.owner_keys = "delta = 1e-6\n";
      const auto run = learn(charter.input(), 1);
      ASSERT_TRUE(run) << describe(run.error());
      ASSERT_EQ(run->learners.size(), 4u);
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(run->answers[i], 5 * jobs);
        EXPECT_LE(run->spent[i].epsilon, 10);
        EXPECT_GT(run->spent[i].epsilon, 9.99) << mechanism << how;
      }
      EXPECT_NE(run->learners[0].own, run->learners[1].own);
    }
}

TEST(OwnerLearner, CopiesOfStatisticsCostOneReleaseEach) {
  OwnerCharter charter = copies("statistics", statistics());
  const auto run = learn(charter.input(), 1);
  ASSERT_TRUE(run) << describe(run.error());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_LE(run->spent[i].epsilon, 10);
    EXPECT_GT(run->spent[i].epsilon, 9.99);
  }
}

const Faults kKinds[] = {{.drop = .1},
                         {.duplicate = .2},
                         {.corrupt = .1},
                         {.delay = .5},
                         {.delay = .5, .reorder = .2},
                         {.drop = .05, .duplicate = .05, .corrupt = .05, .delay = .2}};

// Lost, late, doubled or damaged messages, and a learner that crashes, change no model; owners that
// crash may draw other noise, but pay no more.
TEST(OwnerLearner, FaultsChangeNoModelAndNobodyPaysMore) {
  for (const OwnerCharter& charter :
       {with(kOthersFirst), with(std::string(kOthersFirst) + "publish = true\n"),
        with(kOwnStatistics, statistics()), copies("others_first"), copies("own_noise"),
        copies("statistics", statistics())}) {
    const SimulateInput input = charter.input();
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const auto calm = learn(input, seed);
      for (Faults faults : kKinds) {
        faults.learner = seed % 2 ? .1 : 0;
        const auto run = learn(input, seed, faults);
        ASSERT_TRUE(run) << describe(run.error());
        for (size_t k = 0; k < calm->learners.size(); ++k)
          EXPECT_EQ(run->learners[k].own, calm->learners[k].own);
        for (size_t i = 0; i < 4; ++i) EXPECT_EQ(run->spent[i].epsilon, calm->spent[i].epsilon);
      }
      Faults crashes = kKinds[seed % 6];
      crashes.crash = .1, crashes.learner = .05;
      const auto run = learn(input, seed, crashes);
      ASSERT_TRUE(run) << describe(run.error());
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(run->spent[i].epsilon, calm->spent[i].epsilon);
    }
  }
}

/// The same under the asynchronous protocol.
Result<charter::Charter> async(const std::string& more, const std::string& learner = "") {
  OwnerCharter charter;
  charter.protocol = "rounds = 24\nanswers = 12\nstep = 0.1\n" + more;
  charter.learner = learner.empty() ? "" : "[learner]\nname = \"" + learner + "\"\n";
  charter.privacy = "max_grad_norm = 8.0\nevaluate = 0.1\n";
  std::string text = charter.text();
  text.replace(text.find("name = \"sync\""), 13, "name = \"async\"");
  return charter::parse_charter(text, "async", ".");
}
SimulateInput async_input(const std::string& more, const std::string& learner = "") {
  const auto charter = async(more, learner);
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *load_standin(*charter, "lending", 1);
}
const char kCopies[] = "copies = true\nowner_learner = ";

TEST(OwnerLearner, UnderAsyncItAsksTheOthersWithoutLookingAtItsOwnRows) {
  const SimulateInput input = async_input(kOthersFirst, "bank-a");
  const auto one = learn(input, 4), two = learn(with_other_rows(input, 0), 4);
  ASSERT_TRUE(one) << describe(one.error());
  EXPECT_EQ(one->learners[0].shared, two->learners[0].shared);
  EXPECT_NE(one->learners[0].own, two->learners[0].own);
  EXPECT_EQ(one->answers[0], 0u);
  EXPECT_EQ(one->answers[1] + one->answers[2] + one->answers[3], 24u);
  EXPECT_EQ(one->learners[0].by_round.size(), 8u) << "after every three rounds";
  const auto result = simulate(input, {.seed = 4});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LT(result->quality.own_models[0].relative_fitness.mean,
            result->quality.relative_fitness.mean);
}

// Who comes when depends on faults, and so does the model; what is paid does not exceed the budget.
TEST(OwnerLearner, UnderAsyncNobodyIsOverItsBudgetWhateverHappens) {
  for (const SimulateInput& input :
       {async_input(kOthersFirst, "bank-a"), async_input(kCopies + std::string("'others_first'\n")),
        async_input(kCopies + std::string("'own_noise'\n"))})
    for (uint64_t seed = 1; seed <= 6; ++seed)
      for (Faults faults : kKinds) {
        faults.learner = seed % 2 ? .1 : 0;
        faults.crash = seed % 3 ? .05 : 0;
        const auto run = learn(input, seed, faults);
        ASSERT_TRUE(run) << describe(run.error());
        for (const auto& learner : run->learners)
          for (double value : learner.own) EXPECT_LE(std::fabs(value), 1);
        for (size_t i = 0; i < 4; ++i) EXPECT_LE(run->spent[i].epsilon, 10);
      }
}

TEST(OwnerLearnerCharter, UnderAsyncStatisticsAndGraphsAreRefusedWithTheReason) {
  const auto why = [](const Result<charter::Charter>& parsed) {
    EXPECT_FALSE(parsed);
    return parsed ? "" : describe(parsed.error());
  };
  EXPECT_NE(why(async(kOwnStatistics, "bank-a")).find("released once"), std::string::npos);
  EXPECT_NE(why(async("graph = [['bank-a', 'bank-b']]\n")).find("order of the answers"),
            std::string::npos);
  EXPECT_NE(why(async("answers = 6\n")), "") << "a key twice";
  OwnerCharter few;
  few.protocol = "rounds = 24\nanswers = 7\nstep = 0.1\n" + std::string(kOthersFirst);
  std::string text = few.text();
  text.replace(text.find("name = \"sync\""), 13, "name = \"async\"");
  EXPECT_NE(why(charter::parse_charter(text, "async", ".")).find("of 3 owners make fewer"),
            std::string::npos)
      << "the learner gives none";
}

TEST(OwnerLearnerCharter, RefusesWhatHasNoMeaning) {
  const auto error_of = [](OwnerCharter charter) {
    const auto parsed = charter.parsed();
    EXPECT_FALSE(parsed);
    return parsed ? std::string() : describe(parsed.error());
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(with("owner_learner = \"exact\"\n")), "must be \"paper\"");
  has(error_of(with(kOwnStatistics)), "needs rule = \"statistics\"");
  has(error_of(with(kOthersFirst, statistics())), "rules that ask for gradients");
  has(error_of(with("owner_learner = \"own_noise\"\nprox = 1.0\n")), "unknown key prox");
  has(error_of(with("copies = true\n")), "needs protocol.owner_learner");
  OwnerCharter publish = with(std::string(kOthersFirst) + "publish = true\n");
  publish.privacy = "max_grad_norm = 8.0\n";
  has(error_of(publish), "must be 0 with protocol.publish");
  OwnerCharter both = copies("others_first");
  both.protocol += "publish = true\n";
  has(error_of(both), "is for one learner");
  OwnerCharter learner = copies("others_first");
  learner.learner = "[learner]\nname = \"bank-a\"\n";
  has(error_of(learner), "every owner learns");
  OwnerCharter judged = copies("statistics", statistics());
  judged.privacy = "max_row_norm = 15.0\nevaluate = 0.1\n";
  has(error_of(judged), "must be 0 with copies of statistics");
  OwnerCharter address;
  address.owner_keys = "address = \"bank.example:7443\"\n";
  address.learner = "[learner]\nname = \"central-bank\"\n";
  has(error_of(address), "is for charters with protocol.copies or protocol.graph");
}

TEST(OwnerLearnerCharter, AnAddressIsPartOfIt) {
  OwnerCharter with_address = copies("others_first");
  with_address.owner_keys = "address = \"bank.example:7443\"\n";
  ASSERT_TRUE(with_address.parsed());
  EXPECT_EQ(with_address.parsed()->owners[2].address, "bank.example:7443");
  EXPECT_NE(with_address.parsed()->hash, copies("others_first").parsed()->hash);
  EXPECT_EQ(plan::job_of(*with_address.parsed(), 1).learner.address, "bank.example:7443");
}

TEST(OwnerLearnerCharter, NeedsEveryOwner) {
  const char kLine[] =
      "graph = [['bank-a', 'bank-b'], ['bank-b', 'bank-c'], ['bank-c', 'bank-d']]\n";
  for (OwnerCharter charter : {with(kOthersFirst), copies("others_first"), with(kLine)}) {
    if (charter.protocol.find("graph") != std::string::npos) charter.learner.clear();
    charter.learner += "[network]\nquorum = 3\n";
    const auto refused = simulate(charter.input(), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().where.key, "network.quorum");
  }
}

/// A plan is of one job: whoever forgets to ask which is told by the key.
TEST(OwnerLearnerCharter, IsNoPlanByItselfUnlessTheLearnerAddsItsOwnNoise) {
  const auto plan_of = [](const OwnerCharter& charter) {
    const SimulateInput input = charter.input();
    return plan::sync_plan(input.charter, input.pilot.get());
  };
  EXPECT_TRUE(plan_of(with("owner_learner = \"own_noise\"\n")));
  EXPECT_EQ(plan_of(with(kOthersFirst)).error().where.key, "protocol.owner_learner");
  EXPECT_EQ(plan_of(copies("own_noise")).error().where.key, "protocol.copies");
}

TEST(OwnerJobs, SayWhoAsksWhom) {
  const auto names = [](const Result<std::vector<charter::Charter>>& jobs) {
    std::string text;
    for (const charter::Charter& job : *jobs) text += (text.empty() ? "" : " ") + job.learner.name;
    return text;
  };
  const auto one = *with(kOthersFirst).parsed(), all = *copies("others_first").parsed();
  EXPECT_EQ(names(plan::jobs_asking(one, "bank-b")), "bank-a");
  EXPECT_EQ(names(plan::jobs_asking(one, "bank-a")), "") << "it only learns";
  EXPECT_EQ(names(plan::jobs_asking(all, "bank-b")), "bank-a bank-c bank-d");
  EXPECT_EQ(names(plan::jobs_asking(*copies("own_noise").parsed(), "bank-b")),
            "bank-a bank-b bank-c bank-d");
  EXPECT_EQ(plan::learners_job(one, "")->owners.size(), 3u);
  EXPECT_EQ(plan::learners_job(one, "")->hash, one.hash);
  EXPECT_FALSE(plan::learners_job(one, "bank-b"));
  EXPECT_FALSE(plan::learners_job(all, "")) << "whose?";
  EXPECT_FALSE(plan::learners_job(all, "bank-x"));
  EXPECT_NE(plan::learners_job(all, "bank-a")->hash, plan::learners_job(all, "bank-b")->hash);
}

}  // namespace owner_learner_test
}  // namespace parley::sim
