// Whoever the authority has revoked gets no further than the handshake, on either side, and not on
// when the list comes while a stream is open. Renewed certificates take the place of old ones
// without a stream's end.
#include "parley/net/identity/live_credentials.h"

#include "parley/net/identity/x509.h"
#include "parley/net/transport/client.h"
#include "parley/net/transport/server.h"
#include "support/open_job.h"
#include "support/raw_tls.h"

namespace parley::net {
namespace revoked_test {

using namespace std::chrono_literals;

std::string serial_in(const Credentials& credentials) {
  return serial_of(certificate_from(credentials.certificate).get());
}

Credentials with_revoked(Credentials credentials, const Credentials& revoked) {
  credentials.revoked = {.number = credentials.revoked.number + 1, .serials = {serial_in(revoked)}};
  return credentials;
}

class Revoked : public testing::Test {
 protected:
  void open(LiveCredentials credentials) {
    auto opened = Server::listen({.address = "127.0.0.1:0", .longest = 1000},
                                 std::move(credentials), book_.log());
    ASSERT_TRUE(opened) << opened.error().what;
    server_ = *std::move(opened);
  }
  Dial dial() const {
    return {"127.0.0.1:" + std::to_string(server_->port()), "", learner_.identity};
  }
  /// What the owner is told, while the server serves.
  Result<Client> come(const LiveCredentials& credentials) {
    std::optional<Result<Client>> opened;
    std::atomic<bool> over = false;
    std::thread caller([&] {
      opened.emplace(Client::open(credentials, dial(), stop_));
      over = true;
    });
    while (!over) serve();
    caller.join();
    for (int i = 0; i < 20; ++i) serve();  // Whoever got in has arrived by then.
    return *std::move(opened);
  }
  void serve() {
    const Event event = server_->next(5ms);
    if (const auto* arrived = std::get_if<Arrived>(&event))
      guest_ = arrived->connection, ++arrived_;
    if (std::holds_alternative<Left>(event)) ++left_;
  }

  test::Consortium banks_ = test::consortium_of_today();
  const Credentials one_ = banks_.credentials("owner", "one");
  const Credentials two_ = banks_.credentials("owner", "two");
  const Credentials learner_ = banks_.credentials("learner", test::kLearner);
  test::Logbook book_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Server> server_;
  ConnectionId guest_{};
  int arrived_ = 0, left_ = 0;
};

TEST_F(Revoked, OwnersAreNotLetIn) {
  open(with_revoked(learner_, one_));
  const auto refused = come(one_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kIntegrity);
  EXPECT_NE(refused.error().what.find("the authority has revoked it"), std::string::npos)
      << refused.error().what;
  EXPECT_EQ(arrived_, 0);
  EXPECT_NE(book_.text().find("its certificate was revoked"), std::string::npos) << book_.text();
  EXPECT_TRUE(come(two_)) << "only one is on the list";
  EXPECT_EQ(arrived_, 1);
}

TEST_F(Revoked, OwnersThatSpeakTlsByThemselvesAreNotLetInEither) {
  open(with_revoked(learner_, one_));
  std::atomic<bool> over = false;
  bool greeted = true;
  std::thread stranger([&] {
    test::RawTls raw(dial().address.first(), {.credentials = &one_});
    greeted = raw.open();
    over = true;
  });
  while (!over) serve();
  stranger.join();
  EXPECT_FALSE(greeted) << "not even the first frame comes back";
  EXPECT_EQ(arrived_, 0);
}

TEST_F(Revoked, LearnersAreToldNothing) {
  open(learner_);
  const auto refused = come(with_revoked(one_, learner_));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kIntegrity);
  EXPECT_NE(refused.error().what.find("revoked the certificate"), std::string::npos)
      << refused.error().what;
  EXPECT_EQ(arrived_, 0);
}

TEST_F(Revoked, GuestsLeaveWhenTheListComes) {
  const LiveCredentials live(learner_);
  open(live);
  auto first = come(one_);
  ASSERT_TRUE(first);
  auto second = come(two_);
  ASSERT_TRUE(second);
  live.replace(with_revoked(learner_, one_));
  for (int i = 0; i < 400 && left_ == 0; ++i) serve();
  EXPECT_EQ(left_, 1) << "the other stays";
  const auto told = first->read();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().what, "your certificate was revoked");
  ASSERT_TRUE(second->write({7}));
  Event event;
  for (int i = 0; i < 400 && !std::holds_alternative<Said>(event); ++i) event = server_->next(5ms);
  EXPECT_TRUE(std::holds_alternative<Said>(event));
}

TEST_F(Revoked, StreamsToLearnersEndWhenTheListComes) {
  open(learner_);
  const LiveCredentials live(one_);
  auto line = come(live);
  ASSERT_TRUE(line);
  live.replace(with_revoked(one_, two_));
  EXPECT_TRUE(*line->read_until(std::chrono::steady_clock::now() + 300ms) == std::nullopt)
      << "somebody else's revocation ends nothing";
  live.replace(with_revoked(*live.now(), learner_));
  const auto ended = line->read();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kIntegrity);
}

TEST_F(Revoked, RenewedCertificatesServeNewStreamsAndEndNoOldOnes) {
  const LiveCredentials live(banks_.credentials("learner", test::kLearner, 1));
  open(live);
  auto before = come(one_);
  ASSERT_TRUE(before);
  const ConnectionId early = guest_;
  // Whoever still believes in the old certificate only would not come in.
  const Credentials old = *live.now();
  live.replace(learner_);
  for (int i = 0; i < 60; ++i) serve();
  EXPECT_TRUE(come(with_revoked(two_, old))) << "the new certificate is shown";
  server_->send(early, {1, 2, 3});
  EXPECT_EQ(*before->read(), (Bytes{1, 2, 3})) << "the old stream goes on";
  EXPECT_EQ(left_, 0);
}

/// The files of a party, watched.
class WatchedFiles : public testing::Test {
 protected:
  void SetUp() override {
    files_ = test::write_credentials(folder_, one_);
    live_.emplace(*read_credentials(files_, clock_));
    watch_.emplace(
        *live_, files_, [this] { return read_credentials(files_, clock_); }, clock_, book_.log());
  }
  void TearDown() override {
    watch_.reset();
    std::filesystem::remove_all(folder_);
  }
  void write_list(int64_t number, const test::Consortium& signer, const Credentials& revoked) {
    ASSERT_TRUE(
        write_file(folder_ / kRevokedFile,
                   revocation_list({number, {serial_in(revoked)}}, signer.authority().certificate,
                                   signer.authority().key, clock_)));
  }

  SystemClock clock_;
  std::filesystem::path folder_ = test::fresh_folder();
  test::Consortium banks_ = test::consortium_of_today();
  const Credentials one_ = banks_.credentials("owner", "one"),
                    two_ = banks_.credentials("owner", "two");
  charter::Identity files_;
  test::Logbook book_;
  std::optional<LiveCredentials> live_;
  std::optional<CredentialsWatch> watch_;
};

TEST_F(WatchedFiles, AreTakenOnceKeyAndCertificateAreBothThere) {
  const Credentials next = banks_.credentials("owner", "one");
  ASSERT_TRUE(write_file(files_.certificate, next.certificate));
  EXPECT_TRUE(book_.says("those in use stay")) << book_.text();
  EXPECT_EQ(live_->now()->key, one_.key);
  ASSERT_TRUE(write_file(files_.key, next.key));
  std::filesystem::permissions(files_.key, std::filesystem::perms(0600));
  EXPECT_TRUE(book_.says("our certificate was read again")) << book_.text();
  EXPECT_EQ(live_->now()->certificate, next.certificate);
}

TEST_F(WatchedFiles, TakeNewerListsOfTheirAuthorityOnly) {
  write_list(2, banks_, two_);
  EXPECT_TRUE(book_.says("number 2, 1 certificates")) << book_.text();
  EXPECT_TRUE(live_->now()->revoked.has(serial_in(two_)));
  write_list(1, banks_, banks_.credentials("owner", "three"));
  EXPECT_TRUE(book_.says("has number 1 (0: there is none), and 2 is in use")) << book_.text();
  const test::Consortium stranger = test::consortium_of_today();
  write_list(3, stranger, banks_.credentials("owner", "three"));
  EXPECT_TRUE(book_.says("is not signed by the consortium's authority")) << book_.text();
  std::filesystem::remove(folder_ / kRevokedFile);
  EXPECT_TRUE(book_.says("has number 0 (0: there is none), and 2 is in use")) << book_.text();
  EXPECT_TRUE(live_->now()->revoked.has(serial_in(two_))) << "none of it frees anyone";
}

TEST_F(WatchedFiles, OfARestartAreReadWithTheListThatWasKept) {
  files_.memory = folder_ / "state", files_.charters = folder_ / "charters";
  std::filesystem::create_directories(files_.charters);
  watch_.reset();
  const auto start = [&] {
    live_.emplace(*read_credentials(files_, clock_));
    watch_.emplace(
        *live_, files_, [this] { return read_credentials(files_, clock_); }, clock_, book_.log());
  };
  start();
  write_list(2, banks_, two_);
  std::filesystem::rename(folder_ / kRevokedFile, files_.charters / kRevokedFile);
  EXPECT_TRUE(book_.says("number 2, 1 certificates")) << "it came with a charter";
  watch_.reset();
  std::filesystem::remove(files_.charters / kRevokedFile);
  write_list(1, banks_, banks_.credentials("owner", "three"));
  start();
  EXPECT_TRUE(live_->now()->revoked.has(serial_in(two_))) << "an older list frees nobody";
  EXPECT_TRUE(book_.says("has number 1 (0: there is none), and 2 is in use")) << book_.text();
  const Credentials next = banks_.credentials("owner", "one");
  ASSERT_TRUE(write_file(files_.certificate, next.certificate));
  ASSERT_TRUE(write_file(files_.key, next.key));
  std::filesystem::permissions(files_.key, std::filesystem::perms(0600));
  EXPECT_TRUE(book_.says("our certificate was read again")) << book_.text();
  const test::Consortium other = test::consortium_of_today();
  EXPECT_EQ(newest_revocations(files_, other.authority().certificate).error().code,
            Code::kIntegrity)
      << "its authority's list is still there";
  std::filesystem::remove(folder_ / kRevokedFile);
  EXPECT_EQ(newest_revocations(files_, other.authority().certificate)->number, 0)
      << "a new authority counts anew";
}

TEST(Renewal, IsRemindedOfFromHalfOfTheCertificatesLifeOn) {
  test::Consortium banks;
  const Credentials one = banks.credentials("owner", "one", 100);
  banks.clock().at += 49 * 86400;
  EXPECT_EQ(renewal_notice(one, banks.clock()), "");
  banks.clock().at += 86400;
  EXPECT_NE(renewal_notice(one, banks.clock()).find("in 50 days"), std::string::npos);
}

}  // namespace revoked_test
}  // namespace parley::net
