// A learner with a valid certificate that asks for more than its charter, or talks nonsense: the
// owner refuses with a reason, logs it, and its ledger has paid for no more than it answered.
#include <cmath>

#include "parley/net/transport/server.h"
#include "support/open_job.h"

namespace parley::net {
namespace hostile_learner_test {

using test::kAnswers, test::some_plan, test::TestOwner;

const Hash kCharter = some_plan().charter;

/// How a scripted learner meets those who greet it.
enum class Manner {
  kWelcomes,      // then it says what it was told to say, one thing after each reply
  kAsks,          // the same without a welcome
  kRepeats,       // with one, and then its last word again and again
  kComesAndGoes,  // with one on each stream, which it ends
  kGoesStill,     // with one, and then it keeps the stream and says nothing
  kKeepsStill     // it says nothing at all
};

/// The first is sent after the welcome.
Bytes query(uint64_t number, uint32_t round, std::vector<double> theta = {.1, .1}) {
  return wire::encode({kCharter, number + 1},
                      wire::Query{round, privacy::Public::from_model(std::move(theta))});
}

class Scripted {
 public:
  Scripted(const Credentials& credentials, std::vector<Bytes> script,
           Manner manner = Manner::kWelcomes)
      : host_(*Server::listen({.address = "127.0.0.1:0", .longest = 1 << 20}, credentials,
                              [](const std::string&) {})),
        script_(std::move(script)),
        manner_(manner),
        thread_([this] { run(); }) {}
  ~Scripted() {
    stop_ = true;
    thread_.join();
  }
  Dial dial() const {
    return {"127.0.0.1:" + std::to_string(host_->port()),
            "",
            {"banks.example", "learner", test::kLearner}};
  }
  /// What it was told, the greeting first.
  std::vector<Bytes> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void run() {
    while (!stop_) {
      const Event event = host_->next(std::chrono::milliseconds(20));
      const auto* said = std::get_if<Said>(&event);
      if (said == nullptr) continue;
      const std::lock_guard lock(mutex_);
      heard_.push_back(said->message);
      const bool polite = manner_ != Manner::kAsks && manner_ != Manner::kKeepsStill;
      if (polite && (heard_.size() == 1 || manner_ == Manner::kComesAndGoes))
        host_->send(said->connection, wire::encode({kCharter, 1}, wire::Welcome{}));
      if (manner_ == Manner::kRepeats) {
        host_->send(said->connection, query(heard_.size(), 1));
        continue;
      }
      if (manner_ == Manner::kComesAndGoes)
        host_->dismiss(said->connection, {Code::kUnavailable, "come again"});
      if (heard_.size() <= script_.size())
        host_->send(said->connection, script_[heard_.size() - 1]);
      else if (manner_ == Manner::kWelcomes || manner_ == Manner::kAsks)
        host_->dismiss(said->connection, {Code::kUnavailable, "come again"});
    }
  }
  std::unique_ptr<Server> host_;
  std::vector<Bytes> script_;
  Manner manner_;
  std::mutex mutex_;
  std::vector<Bytes> heard_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class AnHonestOwner : public testing::Test {
 protected:
  auto attend_to(const Scripted& learner) {
    return attend(*owner_.owner, nullptr, mutex_, banks_.credentials("owner", "one"),
                  learner.dial(),
                  {.absent = std::chrono::seconds(1),
                   .silent = std::chrono::seconds(1),
                   .farewell = std::chrono::seconds(1),
                   .answer_after = answer_after_},
                  stop_, book_.log());
  }
  /// Attends until it has had enough, for this reason, having answered so many questions.
  void expect_refusal(std::vector<Bytes> script, Code code, const std::string& why,
                      uint32_t answered = 0, Manner manner = Manner::kWelcomes) {
    Scripted learner(banks_.credentials("learner", test::kLearner), std::move(script), manner);
    const auto ended = attend_to(learner);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, code) << ended.error().what;
    EXPECT_NE(ended.error().what.find(why), std::string::npos) << ended.error().what;
    EXPECT_NEAR(spent(), double(answered) / kAnswers, 1e-6);
  }
  /// The same, where the owner tells the learner why.
  void expect_answered_no(std::vector<Bytes> script, Code code, const std::string& why,
                          uint32_t answered = 0) {
    expect_refusal(std::move(script), code, why, answered);
    EXPECT_TRUE(book_.says("refused the learner's question: " + why)) << book_.text();
  }
  double spent() const { return owner_.ledger.spent(owner_.dataset).pure; }

  test::Consortium banks_ = test::consortium_of_today();
  TestOwner owner_{1, 1};
  std::mutex mutex_;
  std::atomic<bool> stop_ = false;
  std::chrono::milliseconds answer_after_{0};
  test::Logbook book_;
};

TEST_F(AnHonestOwner, AnswersNoRoundBeforeTheFirst) {
  expect_answered_no({query(1, 0)}, Code::kPolicy, "round 0 is outside the charter's 1 .. 4");
}

TEST_F(AnHonestOwner, AnswersNoRoundAfterTheCharters) {
  expect_answered_no({query(1, 1), query(2, 2), query(3, 3), query(4, 4), query(5, 5)},
                     Code::kPolicy, "round 5 is outside the charter's 1 .. 4", 4);
}

TEST_F(AnHonestOwner, SkipsNoRound) {
  expect_answered_no({query(1, 1), query(2, 3)}, Code::kIntegrity, "round 3", 1);
}

TEST_F(AnHonestOwner, AnswersARoundForOneThetaOnly) {
  expect_answered_no({query(1, 1), query(2, 1, {.1, .2})}, Code::kIntegrity, "round 1", 1);
}

TEST_F(AnHonestOwner, AnswersNoThetaThatIsNoModelOfTheCharter) {
  for (const double wrong : {2.1, -1e300, double(NAN), double(INFINITY)})
    expect_answered_no({query(1, 1, {0, wrong})}, Code::kInvalid,
                       "theta is not finite or outside the box 2");
  for (const size_t size : {0, 1, 3, 10'000})
    expect_answered_no({query(1, 1, std::vector<double>(size))}, Code::kInvalid,
                       "theta has " + std::to_string(size) + " coordinates");
}

TEST_F(AnHonestOwner, HearsNoMessageOfAnotherCharterOrOutOfTurn) {
  expect_refusal({wire::encode({{9}, 2}, wire::Welcome{})}, Code::kIntegrity, "for charter 09000");
  expect_refusal({query(2, 1)}, Code::kIntegrity, "message 3 arrived where 2 was due");
  expect_refusal({query(1, 1), query(1, 1)}, Code::kIntegrity, "message 2 arrived where 3 was due",
                 1);
}

TEST_F(AnHonestOwner, HearsNoNonsense) {
  Bytes torn = query(1, 1);
  torn.resize(torn.size() - 3);
  expect_refusal({torn}, Code::kIntegrity, "malformed message");
  expect_refusal({{}}, Code::kIntegrity, "malformed message");
  expect_refusal({Bytes(wire::kMessageBytesMax + 1)}, Code::kIntegrity,
                 "sent a message of 4194305 bytes");
}

// The welcome shows the receipts that a learner holds; a ledger that does not know them must not
// pay.
TEST_F(AnHonestOwner, PaysNothingBeforeItIsWelcomed) {
  const auto first = [](const auto& message) { return wire::encode({kCharter, 1}, message); };
  for (const Bytes& message :
       {first(wire::Query{1, privacy::Public::from_model({.1, .1})}),
        first(wire::Grant{.round = 1, .granted = true}), first(wire::Finished{.model = {7}})})
    expect_refusal({message}, Code::kIntegrity, "the learner asks before it has welcomed", 0,
                   Manner::kAsks);
}

TEST_F(AnHonestOwner, IsWelcomedOnce) {
  expect_refusal({wire::encode({kCharter, 2}, wire::Welcome{})}, Code::kIntegrity,
                 "the learner welcomes this owner twice");
}

TEST_F(AnHonestOwner, BelievesNoEndBeforeItsTime) {
  owner_.owner->expect_at_end({.answers = kAnswers});
  expect_refusal(
      {query(1, 1), wire::encode({kCharter, 3}, wire::Finished{.model = {7}})}, Code::kIntegrity,
      "has ended after 1 answers of this owner, and under this charter it ends after 4", 1);
}

TEST_F(AnHonestOwner, GivesUpALearnerThatIsThereAndSaysNothing) {
  expect_refusal({}, Code::kUnavailable, "is there, and has said nothing for 1 s", 0,
                 Manner::kKeepsStill);
}

TEST_F(AnHonestOwner, GivesUpALearnerThatAsksNothingNew) {
  expect_refusal({}, Code::kUnavailable, "has asked nothing new for 1 s", 1, Manner::kRepeats);
}

TEST_F(AnHonestOwner, GivesUpALearnerThatOnlyWelcomes) {
  expect_refusal({}, Code::kUnavailable, "has asked nothing new for 1 s", 0, Manner::kComesAndGoes);
}

TEST_F(AnHonestOwner, LeavesALearnerThatSaysNothingAfterItWasRefused) {
  expect_refusal({query(1, 0)}, Code::kPolicy, "round 0 is outside the charter's", 0,
                 Manner::kGoesStill);
}

// However quick the pass was: refusals wait, too. Nothing depends on the test's own speed.
TEST_F(AnHonestOwner, RepliesNoEarlierThanItsPolicySays) {
  answer_after_ = std::chrono::milliseconds(100);
  const auto started = std::chrono::steady_clock::now();
  expect_answered_no({query(1, 1), query(2, 2), query(3, 2, {.1, .2})}, Code::kIntegrity, "round 2",
                     2);
  EXPECT_GE(std::chrono::steady_clock::now() - started, 3 * answer_after_);
}

TEST_F(AnHonestOwner, SaysNothingToSomebodyElse) {
  test::Consortium others = test::consortium_of_today();
  for (const Credentials& credentials :
       {banks_.credentials("owner", "two"), banks_.credentials("learner", "other-bank"),
        others.credentials("learner", test::kLearner)}) {
    Scripted impostor(credentials, {query(1, 1)});
    const auto ended = attend_to(impostor);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Code::kIntegrity) << ended.error().what;
    EXPECT_EQ(impostor.heard().size(), 0u);
  }
  EXPECT_EQ(spent(), 0);
}

}  // namespace hostile_learner_test
}  // namespace parley::net
