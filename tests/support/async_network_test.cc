// Simulator and network drive the same code: an asynchronous job at a real port, whose owners tick
// in the simulated order, ends in the simulated model, bit for bit.
#include <algorithm>
#include <atomic>

#include "parley/protocol/async.h"
#include "parley/protocol/make_learner.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/load.h"
#include "support/open_job.h"

namespace parley {
namespace {

constexpr size_t kOwners = 3, kRounds = 12;
constexpr uint64_t kSeed = 3;

const SigningKey& key_of(size_t owner) {
  static const SigningKey keys[] = {SigningKey::make(), SigningKey::make(), SigningKey::make()};
  return keys[owner];
}

std::string name_of(size_t owner) { return "bank-" + std::to_string(owner); }

charter::Charter some_charter(const std::string& contact) {
  std::string text =
      "[charter]\nversion = 1\nname = \"three\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, '0') +
      "\"\nrows = 1000\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 2e-5\nbox = 1.0\n"
      "[protocol]\nname = \"async\"\nstep = 0.1\nanswers = 8\nrounds = " +
      std::to_string(kRounds) + "\ncontact = \"" + contact +
      "\"\n[privacy]\nmax_grad_norm = 8.0\nevaluate = 0.1\n";
  for (size_t owner = 0; owner < kOwners; ++owner)
    text += "[[owner]]\nname = \"" + name_of(owner) +
            "\"\nrows = 200\nepsilon = 10\nsign_key = \"" + to_text(key_of(owner).public_key()) +
            "\"\n";
  return *charter::parse_charter(text + "[learner]\nname = \"central-bank\"\n", "test.toml", ".");
}

/// Whose turn it is: the simulated order, as far as the learner has come.
struct Score {
  std::vector<std::string> order;
  std::atomic<size_t> round = 0;
};

/// Claims only when it is its turn and this turn's answer is not yet on its way: the learner may be
/// slow to say that the round is over.
class Conducted final : public protocol::AsyncOwner {
 public:
  Conducted(const charter::Charter& charter, size_t owner, gate::Gate gate, const Score& score)
      : AsyncOwner(charter.hash, name_of(owner), charter.protocol.as<charter::Async>()->contact,
                   std::move(gate), key_of(owner)),
        name_(name_of(owner)),
        score_(score) {}

  std::optional<Bytes> tick() override {
    const size_t round = score_.round;
    if (round >= kRounds || score_.order[round] != name_) return std::nullopt;
    const auto turns = std::count(&score_.order[0], &score_.order[round], name_);
    return last_round() == turns ? AsyncOwner::tick() : std::nullopt;
  }

 private:
  std::string name_;
  const Score& score_;
};

/// Often.
class Metronome final : public net::Ticks {
 public:
  Moment next() override { return next_; }
  void restart(Moment from) override { next_ = from + std::chrono::milliseconds(2); }

 private:
  Moment next_ = std::chrono::steady_clock::now();
};

/// One owner from its first greeting to the farewell, with the simulated noise.
void attend(const sim::SimulateInput& input, size_t owner, const Score& score,
            test::Consortium& banks, const net::Dial& dial) {
  const auto party = *sim::Party::make({.charter = input.charter,
                                        .owner = owner,
                                        .rows = input.owners[owner].rows,
                                        .policy = nullptr,
                                        .seed = kSeed,
                                        .run = 0,
                                        .ledger = {},
                                        .threads = 1});
  Conducted process(input.charter, owner, *party->open_gate(), score);
  Metronome ticks;
  std::mutex mutex;
  const std::atomic<bool> stop = false;
  const auto heard = net::attend(process, &ticks, mutex, banks.credentials("owner", name_of(owner)),
                                 dial, {}, stop, [](const std::string&) {});
  EXPECT_TRUE(heard) << heard.error().what;
}

learn::Model networked(const sim::SimulateInput& input, std::vector<std::string> order) {
  test::Consortium banks = test::consortium_of_today();
  Score score{std::move(order)};
  const auto folder = test::fresh_folder();
  const auto learner =
      *protocol::make_learner(input.charter, input.pilot.get(), protocol::Receipts::kSigned);
  std::vector<std::thread> owners;
  const net::LearnerOptions options{
      .listen = "127.0.0.1:0",
      .out = folder,
      .opened =
          [&](int port) {
            const net::Dial dial{"127.0.0.1:" + std::to_string(port),
                                 "",
                                 {"banks.example", "learner", test::kLearner}};
            for (size_t owner = 0; owner < kOwners; ++owner)
              owners.emplace_back([&, owner, dial] { attend(input, owner, score, banks, dial); });
          },
      .progress = [&](size_t round) { score.round = round; }};
  const std::atomic<bool> stop = false;
  const auto credentials = banks.credentials("learner", test::kLearner);
  const auto ended = net::run_learner(input.charter, *learner, credentials, options, banks.clock(),
                                      stop, [](const std::string&) {});
  for (std::thread& owner : owners) owner.join();
  check(bool(ended));
  learn::Model model = *learn::read_model(ended->model_file);
  std::filesystem::remove_all(folder);
  return model;
}

TEST(AsyncNetwork, WithTheSimulatedTicksTheModelIsTheSimulatedOneBitForBit) {
  for (const char* contact : {"owner_requests", "broadcast"}) {
    const sim::SimulateInput input = *sim::load_standin(some_charter(contact), "lending", 1);
    const sim::SimulateOptions options{.seed = kSeed};
    const auto simulated = sim::run_job({input, options});
    ASSERT_TRUE(simulated) << describe(simulated.error());
    ASSERT_EQ(simulated->order.size(), kRounds + kOwners) << "an evaluation of each at the end";
    const learn::Model model = networked(input, simulated->order);
    EXPECT_EQ(model.theta, simulated->trained.theta);
    EXPECT_EQ(model.evaluation, simulated->trained.evaluation);
    EXPECT_TRUE(model.evaluation.has_value());
  }
}

}  // namespace
}  // namespace parley
