// Checks (iii), (v) and (vii) of docs/checks.md at the gate, where an owner's
// records become an answer.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cmath>
#include <fstream>

#include "parley/base/files.h"
#include "parley/data/readers/csv.h"
#include "parley/gate/gate.h"
#include "parley/ledger/simulated.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::gate {
namespace owner_checks_test {

using test::fresh_folder, test::SeededEntropy, test::StoppedClock;

constexpr uint32_t kAnswers = 3;
const std::vector<double> kTheta = {.3, -.4};

plan::Terms terms_of(uint64_t rows, size_t columns = 2,
                     const learn::Losses& loss = learn::Squared{}) {
  const auto lattice = *learn::Lattice::make(4, 24, columns);
  return {.charter = {7},
          .rows = rows,
          .answers = kAnswers,
          .box = 1,
          .unit_records = 1,
          .loss = loss,
          .lattice = lattice,
          .mechanism = *privacy::Laplace::calibrate(plan::sensitivity<L1>(lattice, 1), kAnswers,
                                                    privacy::Epsilon{1.0})};
}

/// The first answer of an owner with a ledger in memory and noise that replays.
Result<privacy::Released> first_answer(const data::AnyRows& rows, const plan::Terms& terms,
                                       std::span<const double> theta, int threads = 1) {
  StoppedClock clock;
  SeededEntropy entropy(5, "checks");
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
  const auto data = *ledger.declare("loans", test::pure_budget(1));
  Gate gate = TRY(Gate::open(Records(rows), terms, ledger, data, entropy, threads));
  return gate.answer(1, theta);
}

// (iii) One-hot records whose scores are 1 up to the last bit, dense and sparse.
TEST(OwnerChecks, OneAndSixteenThreadsGiveTheSameAnswer) {
  SeededEntropy entropy(3, "kink");
  auto sparse = std::make_shared<data::SparseRows>(30);
  std::vector<double> theta(30);
  for (size_t j = 0; j < 30; ++j) theta[j] = .1 * double(j % 3);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint32_t> at;
    for (uint32_t j = 0; j < 30; ++j)
      if (entropy.word() % 3 == 0) at.push_back(j);
    sparse->add(at, std::vector<double>(at.size(), 1.0), entropy.word() & 1 ? 1 : -1);
  }
  const data::AnyRows packed = std::shared_ptr<const data::SparseRows>(sparse);
  const data::AnyRows dense = std::make_shared<const data::Rows>(sparse->dense());
  const plan::Terms terms = terms_of(5000, 30, learn::Hinge{});
  const auto one = first_answer(packed, terms, theta);
  ASSERT_TRUE(one) << describe(one.error());
  for (const data::AnyRows& rows : {packed, dense})
    for (int threads : {1, 2, 16})
      EXPECT_EQ(first_answer(rows, terms, theta, threads)->values(), one->values()) << threads;
}

// (v) What is odd about a record is nobody's business: the file has as many records as before, the
// job opens, and the answer has the same length and the same price. A cell that cannot be read is a
// public constant (docs/reference/data.md); what is not finite is the zero record.
TEST(OwnerChecks, AnOddRecordIsAPublicOneAndNothingElseTells) {
  const auto file = fresh_folder() / "rows.csv";
  const data::Schema schema{
      .columns = {{.name = "a", .low = -100, .high = 100, .missing = 7},
                  {.name = "b", .low = -1e9, .high = 1e9}},
      .target = {.column = "y", .low = -50, .high = 50, .center = 0, .scale = 10}};
  const auto expect_same = [&](const data::Rows& rows, const std::array<double, 2>& z) {
    ASSERT_EQ(rows.size(), 3u);
    data::Rows plain(2);
    plain.add(std::array{1.0, 2.0}, .3), plain.add(z, 0), plain.add(std::array{-1.0, .5}, .4);
    const auto expected =
        first_answer(std::make_shared<const data::Rows>(plain), terms_of(3), kTheta);
    const auto answer = first_answer(std::make_shared<const data::Rows>(rows), terms_of(3), kTheta);
    ASSERT_TRUE(answer && expected);
    EXPECT_EQ(answer->values(), expected->values());
    EXPECT_EQ(answer->receipt().event, expected->receipt().event);
    EXPECT_EQ(answer->receipt().epsilon_spent, expected->receipt().epsilon_spent);
  };
  for (const std::string odd : {"nan", "what", "-inf", "", "1e999"}) {
    SCOPED_TRACE(odd);
    std::ofstream(file) << "a,b,y\n1,2,3\n" << odd << ",2," << odd << "\n-1,.5,4\n";
    expect_same(*data::read_csv(file, schema), {7, 2});
  }
  for (double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e141}) {
    data::Rows rows(2);
    rows.add(std::array{1.0, 2.0}, .3), rows.add(std::array{odd, 1.0}, 1);
    rows.add(std::array{-1.0, .5}, .4);
    expect_same(rows, {0, 0});
  }
}

/// An owner's process over a ledger on disk, as after every start.
struct Process {
  StoppedClock clock;
  SystemEntropy entropy;  // New noise, if it were drawn.
  ledger::Ledger ledger;
  ledger::DatasetId data;
  Gate gate;
  explicit Process(const std::filesystem::path& file)
      : ledger(*ledger::Ledger::open(file, "bank-a", clock)),
        data(*ledger.declare("loans", test::pure_budget(1))),
        gate(*Gate::open(Records(rows()), terms_of(2), ledger, data, entropy, 1)) {}
  static std::shared_ptr<const data::Rows> rows() {
    auto rows = std::make_shared<data::Rows>(2);
    rows->add(std::array{1.0, 2.0}, .3), rows->add(std::array{-1.0, .5}, .4);
    return rows;
  }
};

// (vii) The process dies by SIGKILL after the charge and before it could send the answer: the
// charge stands, and whoever asks again gets the answer that was paid for, not another one.
TEST(OwnerChecks, KilledBetweenChargeAndSendItIsChargedAndAnswersTheSame) {
  const auto folder = fresh_folder(), witness = folder / "paid";
  const auto child = test::start_child([&] {
    Process owner(folder / "ledger.db");
    const auto answer = owner.gate.answer(1, kTheta);
    if (!answer || !write_file(witness, to_hex(sha256(test::bytes_of(*answer))))) return 1;
    kill(getpid(), SIGKILL);
    return 2;
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  Process owner(folder / "ledger.db");
  const double charged = owner.ledger.spent(owner.data).pure;
  EXPECT_GT(charged, .33);
  EXPECT_EQ(owner.gate.last_round(), 1u);
  const auto again = owner.gate.answer(1, kTheta);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(to_hex(sha256(test::bytes_of(*again))), *read_file(witness));
  EXPECT_EQ(owner.ledger.spent(owner.data).pure, charged) << "asked again, for nothing";
  EXPECT_FALSE(owner.gate.answer(1, std::vector{.1, .1})) << "(vi) not for another theta";
  for (uint32_t round = 2; round <= kAnswers; ++round)
    EXPECT_TRUE(owner.gate.answer(round, kTheta));
  EXPECT_LE(owner.ledger.spent(owner.data).pure, 1);
}

}  // namespace owner_checks_test
}  // namespace parley::gate
