// Strangers at the learner's door, and owners with valid certificates who say what they must not:
// each is refused for a reason that the log names, and the honest owners finish the job.
#include "support/open_job.h"
#include "support/raw_tls.h"

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
    const auto written = line.write(messages[0]);  // A long one may be refused before its end.
    ASSERT_TRUE(written || messages[0].size() > kLongest) << written.error().what;
    for (size_t i = 1; i < messages.size(); ++i)
      ASSERT_TRUE(line.read() && line.write(messages[i]));
  }
  static Error last_words(Client& line) {
    for (;;)
      if (const auto heard = line.read(); !heard) return heard.error();
  }
  void expect_refused(const std::vector<Bytes>& messages, const std::string& why,
                      Code code = Code::kIntegrity) {
    Client line = come();
    say(line, messages);
    const Error told = last_words(line);
    EXPECT_NE(told.what.find(why), std::string::npos) << told.what;
    EXPECT_EQ(told.code, code);
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
  expect_refused({hello(), hello(2, {9})}, "a message for charter 0900000000");
}

TEST_F(AsAnOwner, AGreetingForAnotherCharterIsToldToComeAgain) {
  expect_refused({hello(1, {9})}, "a message for charter 0900000000", Code::kUnavailable);
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
  EXPECT_TRUE(job_.book().says("refused one: ")) << job_.book().text();
  job_.finish();
}

TEST_F(AsAnOwner, TheNewestStreamOfAnOwnerWinsOverOneThatHasSaidNothingForAWhile) {
  Client older = come();
  say(older, {hello()});
  ASSERT_TRUE(older.read());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  Client newer = come();
  EXPECT_EQ(last_words(older).what, "a newer stream of the same owner took over");
  EXPECT_TRUE(job_.book().says("in place of its older stream"));
  job_.finish();
}

// Whoever has a copy of an owner's key comes again and again: the owner that is at work stays.
TEST(ClonedKey, DoesNotTakeTheStreamOfAnOwnerAtWork) {
  test::Consortium banks = test::consortium_of_today();
  test::OpenJob job(banks, std::chrono::seconds(20), std::chrono::hours(1));
  const Credentials key = banks.credentials("owner", "one");
  TestOwner honest(1, 1);
  Client line = *job.line(key);
  ASSERT_TRUE(line.write(honest.owner->connect()));
  ASSERT_TRUE(honest.owner->step(*line.read())) << "welcomed";
  for (int i = 0; i < 20; ++i) {
    const auto refused = job.line(key)->read();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnavailable);
    EXPECT_EQ(refused.error().what, "another stream of this owner is at work");
  }
  const auto question = line.read();
  ASSERT_TRUE(question) << question.error().what;
  const auto answer = honest.owner->step(*question);
  EXPECT_TRUE(line.write(**answer));
  EXPECT_TRUE(job.book().says("at 127.0.0.1:")) << job.book().text();
  EXPECT_TRUE(job.book().says("another stream of this owner is at work")) << job.book().text();
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
  EXPECT_TRUE(job_.book().says("in place of its older stream, and so "));
  const std::string log = job_.book().text();
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 100) << "not a line for each";
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

// Strangers who get no further than TLS.
class AtTheDoor : public testing::Test {
 protected:
  /// TLS of another's making, which waits for the learner's verdict.
  void knock(const test::RawTls::Options& options) {
    test::RawTls stranger(job_.address(), options);
    EXPECT_TRUE(!stranger.shaken() || stranger.read(1).empty());
  }
  void say(std::string_view bytes) {
    const Socket socket = test::connected_to(job_.address());
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    EXPECT_TRUE(test::is_hung_up_on(socket));
  }
  void expect_refused(const std::string& words) {
    EXPECT_TRUE(job_.book().says(words)) << job_.book().text();
  }

  test::Consortium banks_ = test::consortium_of_today();
  test::OpenJob job_{banks_};
};

TEST_F(AtTheDoor, WhoeverShowsNoCertificateIsRefused) {
  knock({});
  expect_refused("refused a stranger at 127.0.0.1:");
  expect_refused(": it showed no certificate");
  job_.finish();
}

TEST_F(AtTheDoor, ACertificateOfAnotherAuthorityIsRefusedWhateverNamesItUses) {
  for (const char* consortium : {"banks.example", "clinics.example"}) {
    const Credentials foreign = test::consortium_of_today(consortium).credentials("owner", "one");
    knock({&foreign});
  }
  EXPECT_TRUE(job_.book().says("certificate is not from this consortium's authority", 2));
  job_.finish();
}

TEST_F(AtTheDoor, AnExpiredCertificateIsRefused) {
  const Credentials expired = test::expired_credentials(banks_, "one");
  knock({&expired});
  expect_refused(": its certificate has expired");
  job_.finish();
}

TEST_F(AtTheDoor, AnotherVersionOfTlsOrOfTheProtocolIsRefusedWithAWordForIt) {
  const Credentials one = banks_.credentials("owner", "one");
  knock({.credentials = &one, .version = TLS1_2_VERSION});
  expect_refused("it does not speak TLS 1.3");
  knock({.credentials = &one, .protocol = "h2"});
  expect_refused("it offers \"h2\" instead of \"parley/2\", as Parley 0.1 does");
  knock({.credentials = &one, .protocol = "\nrefused nobody: x\x1b[2J"});
  expect_refused("it offers \"\\u000arefused nobody: x\\u001b[2J\" instead of");
  knock({.credentials = &one, .protocol = ""});
  expect_refused("it does not offer \"parley/2\"");
  job_.finish();
}

TEST_F(AtTheDoor, WhoeverDoesNotSpeakTlsIsRefused) {
  for (const char* words : {"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"})
    say(words);
  EXPECT_TRUE(job_.book().says("it does not speak TLS", 2)) << job_.book().text();
  job_.finish();
}

TEST_F(AtTheDoor, RandomBytesInsteadOfAHandshakeDoNoHarm) {
  const std::string hello("\x16\x03\x01\0\x80\x01\0\0\x7c\x03\x03", 11);
  for (size_t i = 0; i < 1000; ++i) {
    const Bytes bytes = test::any_bytes(i, 1 + i % 200);
    say((i % 2 == 0 ? hello : "") + std::string(bytes.begin(), bytes.end()));
  }
  expect_refused("refused a stranger at ");
  job_.finish();
}

TEST_F(AtTheDoor, ManyWhoComeAtOnceAndSayNothingAreNotWaitedFor) {
  std::vector<Socket> silent;
  for (int i = 0; i < 400; ++i) silent.push_back(test::connected_to(job_.address()));
  expect_refused("too many came at once, and it was not the newest");
  job_.finish();
}

TEST_F(AtTheDoor, ValidCertificatesOfNobodyInTheCharterAreRefusedByName) {
  const Credentials outsider = banks_.credentials("owner", "three");
  const auto line = job_.line(outsider);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::kPolicy);
  EXPECT_EQ(line.error().what, job_.address() + " does not expect " + outsider.identity.uri());
  expect_refused("refused " + outsider.identity.uri() + " at 127.0.0.1:");
  expect_refused(": nobody of that name is expected here");
  for (const char* name : {"one", "three"}) {  // An owner's name in another role.
    const auto learner = job_.line(banks_.credentials("learner", name));
    ASSERT_FALSE(learner);
    EXPECT_NE(learner.error().code, Code::kUnavailable) << learner.error().what;
  }
  job_.finish();
}

}  // namespace strangers_test
}  // namespace parley::net
