// At the port of an owner without a learner: whoever says what he must not is refused by name, and
// the two owners come to one model all the same.
#include "parley/net/neighbours.h"

#include "parley/plan/learner/jobs.h"
#include "parley/wire/gossip.h"
#include "support/open_job.h"

namespace parley::net {
namespace neighbours_test {

using test::key_of;

charter::Charter joined() {
  std::string text =
      "[charter]\nversion = 1\nname = \"tiny\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"y\"\nbounds = [-10.0, 10.0]\n"
      "[[column]]\nname = \"x\"\ncount = 2\nkind = \"number\"\nbounds = [-10.0, 10.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nbox = 2.0\n"
      "[protocol]\nname = \"sync\"\nrule = \"algorithm2\"\nrounds = 4\nstep = 0.5\n"
      "graph = [[\"one\", \"two\"]]\n[privacy]\nmax_grad_norm = 8.0\nevaluate = 0.0\n"
      "[network]\ndeadline_s = 5\n";
  for (int number : {1, 2})
    text += std::string("[[owner]]\nname = \"") + (number == 1 ? "one" : "two") +
            "\"\nrows = " + (number == 1 ? "3" : "2") + "\nepsilon = 1e4\nsign_key = \"" +
            to_text(key_of(number).public_key()) + "\"\n";
  const auto charter = charter::parse_charter(text, "tiny.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

/// An owner with its folder, its ledger and its part of the job in a thread.
class Side {
 public:
  Side(int number, test::Consortium& banks, const std::filesystem::path& folder)
      : owner_(number, 1e4),
        banks_(banks),
        key_(key_of(number)),
        folder_(folder / std::to_string(number)) {
    const std::string name = number == 1 ? "one" : "two";
    EXPECT_TRUE(make_directories(folder_));
    policy_.owner = name;
    policy_.datasets.resize(1);
    policy_.datasets[0].name = "data", policy_.datasets[0].budget = budget();
    policy_.identity = test::write_credentials(folder_, banks.credentials("learner", name));
    policy_.identity->learner = folder_;
    credentials_ = banks.credentials("owner", name);
  }
  ~Side() {
    stop = true;
    end();
  }
  void dials(const std::string& name, int port) {
    policy_.peers[name] = "127.0.0.1:" + std::to_string(port);
  }
  void start() {
    thread_ = std::thread([this] {
      const charter::Charter charter = joined();
      const Ready ready{charter, *plan::jobs_asking(charter, policy_.owner), &policy_.datasets[0],
                        gate::Records(owner_.rows), key_};
      const NeighbourOptions options{
          .listen = "127.0.0.1:0", .out = folder_ / "job", .takeover = takeover};
      const OwnerContext context{policy_, owner_.ledger, *owner_.entropy, mutex_};
      model = learn_with_neighbours(context, ready, credentials_, options, banks_.clock(), stop,
                                    book.log());
    });
  }
  /// Where it listens.
  int port() {
    EXPECT_TRUE(book.says("listening on port ")) << book.text();
    const std::string text = book.text();
    return std::stoi(text.substr(text.find("port ") + 5));
  }
  void end() {
    if (thread_.joinable()) thread_.join();
  }

  test::Logbook book;
  std::atomic<bool> stop = false;
  std::chrono::milliseconds takeover = kTakeover;
  Result<std::optional<Hash>> model = std::optional<Hash>();

 private:
  static privacy::Budget budget() {
    return *privacy::Budget::make(*privacy::Epsilon::make(1e4), 0, 1e4);
  }
  test::TestOwner owner_;
  test::Consortium& banks_;
  SigningKey key_;
  std::filesystem::path folder_;
  charter::Policy policy_{};
  Credentials credentials_{};
  std::mutex mutex_;
  std::thread thread_;
};

class AtAnOwnersPort : public testing::Test {
 protected:
  explicit AtAnOwnersPort(std::chrono::milliseconds takeover = kTakeover) {
    one_.takeover = takeover;
    one_.start(), port_ = one_.port();
  }

  Result<Client> come(const Credentials& credentials, const char* call = kTalk) {
    const Dial dial{"127.0.0.1:" + std::to_string(port_), "", {"banks.example", "learner", "one"}};
    return Client::open(credentials, dial, one_.stop, call);
  }
  static Error last_words(Client& line) {
    for (;;)
      if (const auto heard = line.read(); !heard) return heard.error();
  }
  void expect_refused(const Bytes& message, const std::string& why) {
    auto line = come(banks_.credentials("owner", "two"));
    ASSERT_TRUE(line && line->write(message));
    last_words(*line);
    EXPECT_TRUE(one_.book.says(why)) << one_.book.text();
  }
  /// Two comes, and they learn.
  void finish() {
    Side two(2, banks_, folder_);
    two.dials("one", port_);
    two.start();
    two.end(), one_.end();
    ASSERT_TRUE(one_.model && *one_.model) << describe(one_.model.error());
    ASSERT_TRUE(two.model && *two.model) << describe(two.model.error());
    EXPECT_EQ(**one_.model, **two.model);
  }

  test::Consortium banks_ = test::consortium_of_today();
  const std::filesystem::path folder_ = test::fresh_folder();
  Side one_{1, banks_, folder_};
  int port_ = 0;
};

TEST_F(AtAnOwnersPort, ANeighbourThatSaysNonsenseLosesItsStreamAndMayComeBack) {
  for (size_t i = 1; i < 30; ++i)
    expect_refused(test::any_bytes(i, 29 * i), "refused two: malformed message");
  expect_refused(encode(wire::Gossip{.charter = {9}}), "refused two: a message of charter 0900");
  expect_refused(Bytes(100'000), "sent a message of 100000 bytes");
  finish();
}

TEST_F(AtAnOwnersPort, AnAnswerThatNobodySignedIsRefused) {
  const wire::ReceivedAnswer made_up{
      .round = 1, .values = {1, 2}, .receipt = {.round = 1, .event = "{}"}};
  wire::Gossip gossip{.charter = joined().hash, .round = 1};
  gossip.answer = wire::Relayed::kept({"two", made_up});
  expect_refused(encode(gossip), "refused two: an answer of two has other numbers");
  wire::ReceivedAnswer unsigned_one = made_up;
  unsigned_one.receipt.answer = sha256(bytes_of(made_up.values));
  gossip.answer = wire::Relayed::kept({"two", unsigned_one});
  expect_refused(encode(gossip), "refused two: an answer of two is not signed");
  finish();
}

TEST_F(AtAnOwnersPort, WhoeverIsNoNeighbourIsTurnedAwayByName) {
  for (const char* name : {"one", "three"}) {
    const auto line = come(banks_.credentials("owner", name));
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, Code::kPolicy);
    EXPECT_TRUE(one_.book.says("refused parley://banks.example/owner/" + std::string(name) +
                               " at 127.0.0.1:"))
        << one_.book.text();
  }
  EXPECT_TRUE(one_.book.says("nobody of that name is expected here"));
  EXPECT_FALSE(come(banks_.credentials("learner", "two"))) << "the role counts";
  finish();
}

TEST_F(AtAnOwnersPort, WhoeverTakesItForALearnerIsTold) {
  auto line = come(banks_.credentials("owner", "two"), kAttend);
  ASSERT_TRUE(line);
  EXPECT_NE(last_words(*line).what.find("there is no call"), std::string::npos);
  finish();
}

TEST_F(AtAnOwnersPort, WithoutACertificateOfTheAuthorityThereIsNoConversation) {
  test::Consortium others = test::consortium_of_today();
  Credentials foreign = others.credentials("owner", "two");
  const auto unbelieved = come(foreign);
  ASSERT_FALSE(unbelieved);
  EXPECT_NE(unbelieved.error().what.find("is not from our authority"), std::string::npos);
  EXPECT_TRUE(one_.book.says("it ended TLS with the alert \"")) << one_.book.text();
  foreign.authority = banks_.authority().certificate;
  const auto line = come(foreign);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::kIntegrity);
  EXPECT_NE(line.error().what.find("refuses our certificate"), std::string::npos)
      << line.error().what;
  EXPECT_TRUE(one_.book.says("its certificate is not from this consortium's authority"));
  finish();
}

TEST_F(AtAnOwnersPort, TheNewestStreamOfANeighbourWins) {
  auto older = come(banks_.credentials("owner", "two"));
  ASSERT_TRUE(older->read()) << "it is greeted";
  auto newer = come(banks_.credentials("owner", "two"));
  EXPECT_EQ(last_words(*older).what, "a newer stream of the same owner took over");
  finish();
}

class ClonedKeyOfANeighbour : public AtAnOwnersPort {
 protected:
  ClonedKeyOfANeighbour() : AtAnOwnersPort(std::chrono::hours(1)) {}
};

TEST_F(ClonedKeyOfANeighbour, DoesNotTakeTheStreamOfANeighbourAtWork) {
  {
    auto honest = come(banks_.credentials("owner", "two"));
    ASSERT_TRUE(honest->write(
        encode(wire::Gossip{.charter = joined().hash, .round = 1, .hello = wire::kVersion})));
    ASSERT_TRUE(honest->read() && honest->read()) << "it was heard, and is answered";
    for (int i = 0; i < 20; ++i) {
      auto clone = come(banks_.credentials("owner", "two"));
      ASSERT_TRUE(clone);
      EXPECT_EQ(last_words(*clone).what, "another stream of this owner is at work");
    }
    EXPECT_TRUE(honest->read()) << "it is reminded";
    EXPECT_TRUE(one_.book.says("another stream of this owner is at work")) << one_.book.text();
  }
  finish();  // Its stream is closed, so that the next one need not wait.
}

}  // namespace neighbours_test
}  // namespace parley::net
