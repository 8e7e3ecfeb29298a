// Rule "gram" of one owner: its matrix with noise of its own, then gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>

#include "parley/gate/gate.h"
#include "parley/learn/fitness.h"
#include "parley/ledger/read.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/terms.h"
#include "parley/protocol/make_owner.h"
#include "parley/protocol/sync.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::protocol {
namespace gram_alone_test {

using test::StoppedClock, test::SeededEntropy, test::uniform;

constexpr size_t kRows = 2000;
constexpr uint32_t kRounds = 12;

const SigningKey& key() {
  static const SigningKey one = SigningKey::make();
  return one;
}

Result<charter::Charter> charter_of(double epsilon, const std::string& more = "") {
  std::string text =
      "[charter]\nversion = 1\nname = \"alone\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"y\"\nlevels = [\"no\", \"yes\"]\n";
  for (const char* name : {"a", "b"})
    text += "[[column]]\nname = \"" + std::string(name) +
            "\"\nkind = \"number\"\nbounds = [-1.0, 1.0]\nmissing = 0.0\n";
  text +=
      "[model]\nloss = \"logistic\"\nbox = 20.0\nl2 = 1e-3\nbias = true\n[protocol]\nname = "
      "\"sync\"\nrule = \"gram\"\nrounds = 12\nmomentum = 0.5\n[privacy]\n" +
      (more.empty() ? "mechanism = \"gaussian\"\n" : more) +
      "max_row_norm = 1.8\nmax_grad_norm = 1.8\nevaluate = 0.1\n[[owner]]\nname = \"one\"\n"
      "rows = 2000\nepsilon = " +
      std::to_string(epsilon) + "\n" + (more.empty() ? "delta = 1e-6\n" : "") + "sign_key = \"" +
      to_text(key().public_key()) + "\"\n[learner]\nname = \"center\"\n";
  return charter::parse_charter(text, "test", ".");
}

/// The second column lies far from the middle, beside the bias.
std::shared_ptr<data::Rows> some_rows() {
  SeededEntropy entropy(3, "gram alone");
  auto rows = std::make_shared<data::Rows>(3);
  for (size_t i = 0; i < kRows; ++i) {
    const double a = 2 * uniform(entropy) - 1, b = -.8 + .2 * uniform(entropy);
    const double score = 2 * a + 6 * (b + .7);
    rows->add(std::vector<double>{a, b, 1}, uniform(entropy) < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return rows;
}

/// A job that was run as it should be.
struct Job {
  explicit Job(double epsilon) : charter(*charter_of(epsilon)), folder(test::fresh_folder()) {
    ledger = *ledger::Ledger::open(folder / "ledger.db", "one", clock);
    dataset =
        *ledger->declare("data", *privacy::Budget::make(*privacy::Epsilon::make(epsilon), 1e-6, 0));
  }
  Result<gate::Gate> gate() {
    return gate::Gate::open(gate::Records(rows), *plan::terms_for(charter, 0), *ledger, *dataset,
                            entropy, 1);
  }
  void train() {
    SyncOwner owner(charter.hash, "one", *gate(), key());
    SyncPlan plan = *plan::sync_plan(charter, nullptr);
    ASSERT_TRUE(plan::require_signatures(plan.owners, charter));
    SyncLearner learner(plan);
    learner.attend(0);
    Step step = *learner.step(0, owner.connect());
    std::deque<Outgoing> post(step.messages.begin(), step.messages.end());
    for (; !post.empty(); post.pop_front()) {
      const auto reply = *owner.step(post[0].message);
      if (!reply) continue;
      auto next = learner.step(0, *reply);
      ASSERT_TRUE(next) << describe(next.error());
      transcript.entries.push_back({"one", *std::move(next->taken)});
      post.insert(post.end(), next->messages.begin(), next->messages.end());
    }
    ASSERT_TRUE(learner.finished());
    transcript.charter = charter.hash;
    transcript.started = "2026-11-18T08:00:00Z";
    model = trained_model(charter, learner.trained(), {.started = transcript.started});
  }
  VerifyResult verified() const { return *verify({charter, nullptr, model, transcript}); }

  charter::Charter charter;
  std::filesystem::path folder;
  StoppedClock clock{};
  SeededEntropy entropy{2, "gram alone noise"};
  std::shared_ptr<data::Rows> rows = some_rows();
  std::optional<ledger::Ledger> ledger{};
  std::optional<ledger::DatasetId> dataset{};
  wire::Transcript transcript{};
  learn::Model model{};
};

TEST(GramAlone, AnOwnerAsItIsMadeForACharterBelievesNoFalseEnd) {
  Job job(10);
  auto owner = make_owner({.charter = job.charter,
                           .records = gate::Records(job.rows),
                           .ledger = *job.ledger,
                           .dataset = *job.dataset,
                           .key = key(),
                           .entropy = job.entropy});
  ASSERT_TRUE(owner) << describe(owner.error());
  (*owner)->connect();
  ASSERT_TRUE((*owner)->step(wire::encode({job.charter.hash, 1}, wire::Welcome{})));
  const auto end =
      (*owner)->step(wire::encode({job.charter.hash, 2}, wire::Finished{.model = {7}}));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kIntegrity);
  EXPECT_NE(end.error().what.find("it ends after 12 and the evaluation"), std::string::npos)
      << end.error().what;
}

// With hardly any noise twelve steps end near the optimum, though two columns are nearly one.
TEST(GramAlone, FindsTheOptimum) {
  Job job(1000);
  job.train();
  learn::Fitness fitness(charter::loss_of(job.charter.model), 3, job.charter.model.l2);
  fitness.add(*job.rows);
  const double best = fitness.at(fitness.minimum(20).theta);
  EXPECT_LT(fitness.at(job.model.theta) - best, 1e-3 * best);
  EXPECT_GT(fitness.at(std::vector<double>(3)) - best, .05 * best) << "shows nothing";
}

TEST(GramAlone, PaysForTheMatrixFirstAndNothingBeyondThePromise) {
  Job job(5);
  job.train();
  const auto ledger = *ledger::read(job.folder / "ledger.db");
  ASSERT_EQ(ledger.rows.size(), 1 + 1 + kRounds + 1);
  EXPECT_EQ(ledger.rows[1].kind, "gram");
  EXPECT_EQ(ledger.rows[2].kind, "answer");
  EXPECT_EQ(ledger.rows.back().kind, "evaluation");
  const double spent = job.transcript.entries.back().answer.receipt.epsilon_spent;
  EXPECT_LE(spent, 5);
  EXPECT_GT(spent, 4.99);
}

TEST(GramAlone, IsRefusedWhereALifetimeCannotPayForAllOfIt) {
  Job job(5);
  job.dataset =
      *job.ledger->declare("small", *privacy::Budget::make(*privacy::Epsilon::make(4.9), 1e-6, 0));
  const auto gate = job.gate();
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code, Code::kBudgetExhausted);
}

TEST(GramAlone, TheGateKeepsTheOrder) {
  Job job(5);
  gate::Gate gate = *job.gate();
  const std::vector<double> zero(3);
  EXPECT_EQ(gate.answer(1, zero).error().code, Code::kPolicy) << "before the matrix";
  EXPECT_FALSE(gate.gram(2, zero));
  const auto first = gate.gram(1, zero);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->values().size(), learn::statistics_size(3));
  EXPECT_EQ(gate.gram(1, zero)->values(), first->values()) << "what is stored";
  EXPECT_FALSE(gate.gram(1, std::vector<double>(3, .5))) << "the same with another theta";
  EXPECT_TRUE(gate.answer(1, zero));
  EXPECT_EQ(gate.gram(1, zero)->values(), first->values());
}

TEST(GramAlone, IsVerifiedFromWhatTheOwnerSigned) {
  Job job(5);
  job.train();
  const VerifyResult result = job.verified();
  EXPECT_TRUE(result.holds()) << result.findings[0].what;
  EXPECT_TRUE(result.recomputed);
  auto& entries = job.transcript.entries;
  ASSERT_EQ(entries[0].answer.receipt.kind, privacy::ReleaseKind::kGram);
  entries[0].answer.values[0] += 1;
  EXPECT_FALSE(job.verified().holds());
  entries.erase(entries.begin());
  EXPECT_FALSE(job.verified().holds()) << "without the matrix";
}

TEST(GramAlone, LaplaceNoiseAndMatricesOfNoiseAreRefused) {
  const auto laplace = charter_of(5, "mechanism = \"laplace\"\n");
  ASSERT_FALSE(laplace);
  EXPECT_EQ(laplace.error().where.key, "privacy.mechanism");
  EXPECT_TRUE(plan::can_run(*charter_of(5), 0));
  EXPECT_EQ(plan::can_run(*charter_of(.01), 0).error().where.key, "protocol.rule");
}

}  // namespace gram_alone_test
}  // namespace parley::protocol
