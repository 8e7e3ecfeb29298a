// Owners with valid certificates who say what they must not: each is refused by name and for a
// reason that the log and the stranger read, and the honest owners finish the job.
#include "support/open_job.h"

namespace parley::net {
namespace strangers_test {

using test::some_plan, test::TestOwner;

const Hash kCharter = some_plan().charter;
constexpr size_t kLongest = 8 * 2 + 4096;  // of a model with two numbers

class AsAnOwner : public testing::Test {
 protected:
  Client come(const char* name = "one") { return *job_.line(banks_.credentials("owner", name)); }
  /// Says the last of these after the learner has replied to those before.
  void say(Client& line, const std::vector<Bytes>& messages) {
    ASSERT_TRUE(line.write(messages[0]));
    for (size_t i = 1; i < messages.size(); ++i)
      ASSERT_TRUE(line.read() && line.write(messages[i]));
  }
  static Error last_words(Client& line) {
    for (;;)
      if (const auto heard = line.read(); !heard) return heard.error();
  }
  void expect_refused(const std::vector<Bytes>& messages, const std::string& why) {
    Client line = come();
    say(line, messages);
    const Error told = last_words(line);
    EXPECT_NE(told.what.find(why), std::string::npos) << told.what;
    EXPECT_EQ(told.code, Code::kIntegrity);
    EXPECT_TRUE(job_.book().says("one: " + why)) << job_.book().text();
    job_.finish();
  }
  static Bytes hello(uint64_t sequence = 1, Hash charter = kCharter) {
    return wire::encode({charter, sequence}, wire::Hello{});
  }

  test::Consortium banks_ = test::consortium_of_today();
  test::OpenJob job_{banks_};
};

TEST_F(AsAnOwner, AMessageForAnotherCharterIsRefused) {
  expect_refused({hello(1, {9})}, "a message for charter 0900000000");
}

TEST_F(AsAnOwner, AReplayedMessageIsRefused) {
  expect_refused({hello(), hello()}, "message 1 arrived where 2 was due");
}

TEST_F(AsAnOwner, AMessageBeforeItsTurnIsRefused) {
  expect_refused({hello(2)}, "message 2 arrived where 1 was due");
}

TEST_F(AsAnOwner, ATruncatedMessageIsRefused) {
  Bytes torn = hello();
  torn.resize(torn.size() / 2);
  expect_refused({torn}, "malformed message");
}

TEST_F(AsAnOwner, AMessageLongerThanItsCharterNeedsIsRefusedUnread) {
  expect_refused({Bytes(kLongest + 1)}, "sent a message of 4113 bytes");
}

TEST_F(AsAnOwner, AMessageLongerThanAnyIsRefusedByName) {
  expect_refused({Bytes(wire::kMessageBytesMax + 1)}, "sent a message of 4194305 bytes");
}

TEST_F(AsAnOwner, RandomBytesAreRefusedEachTime) {
  constexpr size_t kTimes = 100;  // More of them, without a network, in protocol/sync_test.cc.
  for (size_t i = 0; i < kTimes; ++i) {
    Client line = come();
    say(line, {test::any_bytes(i, 41 * i)});
    EXPECT_EQ(last_words(line).code, Code::kIntegrity);
  }
  EXPECT_TRUE(job_.book().says("refused one: ", kTimes)) << job_.book().text();
  job_.finish();
}

TEST_F(AsAnOwner, TheNewestStreamOfAnOwnerWins) {
  Client older = come();
  say(older, {hello()});
  ASSERT_TRUE(older.read());
  Client newer = come();
  EXPECT_EQ(last_words(older).what, "a newer stream of the same owner took over");
  EXPECT_TRUE(job_.book().says("in place of its older stream"));
  job_.finish();
}

TEST_F(AsAnOwner, ManyStreamsOfOneOwnerAtOnceLeaveOne) {
  const Credentials credentials = banks_.credentials("owner", "one");
  std::mutex mutex;
  std::vector<Client> lines;  // All stay open.
  const auto come_in = [&] {
    for (int i = 0; i < 20; ++i) {
      auto line = job_.line(credentials);
      const std::lock_guard lock(mutex);
      ASSERT_TRUE(line);
      lines.push_back(*std::move(line));
    }
  };
  std::vector<std::thread> crowd;
  for (int i = 0; i < 10; ++i) crowd.emplace_back(come_in);
  for (std::thread& some : crowd) some.join();
  EXPECT_TRUE(job_.book().says("one attends from", 200));
  EXPECT_TRUE(job_.book().says("in place of its older stream", 199));
  job_.finish();
}

TEST(SilentOwner, LosesItsStreamAtTheDeadlineOfTheGreeting) {
  test::Consortium banks = test::consortium_of_today();
  test::OpenJob job(banks, std::chrono::milliseconds(300));
  const auto heard = job.line(banks.credentials("owner", "one"))->read();
  EXPECT_EQ(heard.error().code, Code::kUnavailable);
  EXPECT_TRUE(job.book().says("dismissed one: nothing came within the time"));
  job.finish();
}

// It has a certificate, but not the other's key.
TEST_F(AsAnOwner, AnswersOfAnotherOwnerAreRefusedWithTheNameOfWhoSentThem) {
  TestOwner one(1, 1);
  protocol::SyncLearner elsewhere(some_plan());
  const Bytes answer = *one.reply(one.attend(elsewhere, 0));
  Client line = come("two");
  say(line, {hello(), answer});
  EXPECT_TRUE(job_.book().says("two sent a receipt that its sign_key in the charter did not sign"));
  job_.finish();
}

}  // namespace strangers_test
}  // namespace parley::net
