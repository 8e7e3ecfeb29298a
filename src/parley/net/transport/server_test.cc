// A server alone, with guests and strangers that do what they must not.
#include "parley/net/transport/server.h"

#include <poll.h>
#include <sys/resource.h>

#include <fstream>
#include <functional>

#include "parley/net/transport/client.h"
#include "parley/wire/message.h"
#include "support/open_job.h"
#include "support/raw_tls.h"

namespace parley::net {
namespace server_test {

using namespace std::chrono_literals;
using test::RawTls, test::RawTlsServer;

size_t open_descriptors() {
  size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
    count += !each.path().empty();
  return count;
}

size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") return status >> word, std::stoul(word);
  return 0;
}

class AServer : public testing::Test {
 protected:
  void open(Door door = {}) {
    if (door.address.empty()) door.address = "127.0.0.1:0";
    if (door.longest == 0) door.longest = 1000;
    auto opened = Server::listen(door, banks_.credentials("learner", test::kLearner), book_.log());
    ASSERT_TRUE(opened) << opened.error().what;
    server_ = *std::move(opened);
  }
  std::string address(const char* host = "127.0.0.1") const {
    return std::string(host) + ":" + std::to_string(server_->port());
  }
  Dial dial() const { return {address(), "", learner_}; }

  /// What comes next that is not Nothing.
  template <class Wanted>
  Wanted await() {
    for (const auto until = std::chrono::steady_clock::now() + 20s;;) {
      const Event event = server_->next(50ms);
      if (const auto* wanted = std::get_if<Wanted>(&event)) return *wanted;
      if (std::chrono::steady_clock::now() < until) continue;
      ADD_FAILURE() << "it did not come; the log: " << book_.text();
      return {};
    }
  }
  void serve_for(std::chrono::milliseconds time) {
    for (const auto until = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < until;)
      server_->next(5ms);
  }
  /// The door is served while somebody else does this.
  void serve_while(const std::function<void()>& work) {
    std::atomic<bool> done = false;
    std::thread worker([&] { work(), done = true; });
    while (!done) server_->next(5ms);
    worker.join();
  }
  /// An honest client, and its arrival.
  std::optional<Client> come(ConnectionId* arrived = nullptr) {
    std::optional<Client> line;
    std::thread caller([&] {
      auto opened = Client::open(one_, dial(), stop_);
      EXPECT_TRUE(opened) << opened.error().what;
      if (opened) line.emplace(*std::move(opened));
    });
    const auto came = await<Arrived>();
    caller.join();
    EXPECT_EQ(came.identity, one_.identity);
    if (arrived != nullptr) *arrived = came.connection;
    return line;
  }

  test::Consortium banks_ = test::consortium_of_today();
  const Credentials one_ = banks_.credentials("owner", "one");
  const Identity learner_{"banks.example", "learner", test::kLearner};
  test::Logbook book_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Server> server_;
};

TEST_F(AServer, CarriesMessagesOfEverySizeBothWays) {
  open({.longest = wire::kMessageBytesMax});
  ConnectionId id{};
  auto line = come(&id);
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{16384}, size_t{100'000}, wire::kMessageBytesMax}) {
    const Bytes message = test::any_bytes(size, size);
    std::thread writer([&] { EXPECT_TRUE(line->write(message)); });
    EXPECT_EQ(await<Said>().message, message);
    writer.join();
    server_->send(id, message);
    serve_while([&] { EXPECT_EQ(*line->read(), message); });
  }
}

TEST_F(AServer, ReadsOneThingAtATime) {
  const auto began = std::chrono::steady_clock::now();
  open();
  ConnectionId id{};
  auto line = come(&id);
  for (uint8_t i = 1; i <= 3; ++i) ASSERT_TRUE(line->write({i}));
  EXPECT_EQ(await<Said>().message, Bytes{1});
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(std::holds_alternative<Nothing>(server_->next(10ms))) << "the second is not asked";
  server_->send(id, {9});
  EXPECT_EQ(await<Said>().message, Bytes{2});
  EXPECT_TRUE(std::holds_alternative<Nothing>(server_->next(50ms)));
  server_->hear_on(id);
  EXPECT_EQ(await<Said>().message, Bytes{3});
  EXPECT_EQ(*line->read(), Bytes{9});
  line.reset();
  EXPECT_EQ(await<Left>().connection, id);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 15s)
      << "a sign of life woke it, not the guest";
}

// Whoever is asked again before it has answered owes two replies: if one of them stayed unread, the
// learner would from then on hear of each question only when it asks the next.
TEST_F(AServer, ReadsAReplyToEveryThingThatItHasSent) {
  open();
  ConnectionId id{};
  auto line = come(&id);
  ASSERT_TRUE(line->write({1}));
  EXPECT_EQ(await<Said>().message, Bytes{1});
  server_->send(id, {8});
  server_->send(id, {9});
  for (uint8_t i = 2; i <= 4; ++i) ASSERT_TRUE(line->write({i}));
  EXPECT_EQ(await<Said>().message, Bytes{2});
  EXPECT_EQ(await<Said>().message, Bytes{3});
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(std::holds_alternative<Nothing>(server_->next(10ms))) << "nobody asked for more";
}

TEST_F(AServer, NoticesThatAGuestIsGoneWhoseMessageItHolds) {
  open();
  std::optional<RawTls> line;
  serve_while([&] {
    line.emplace(address(), RawTls::Options{&one_});
    ASSERT_TRUE(line->open() && line->write(to_frame(FrameKind::kMessage)) &&
                line->write(to_frame(FrameKind::kMessage, Bytes{1})));
    std::this_thread::sleep_for(100ms);  // The first is taken, of the second the head.
  });
  const linger reset{1, 0};  // No farewell.
  ::setsockopt(line->socket().get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  line.reset();
  await<Left>();
}

TEST_F(AServer, WakesForAnotherThread) {
  open();
  std::thread other([&] { server_->wake(); });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(std::holds_alternative<Nothing>(server_->next(20s)));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  other.join();
  auto line = come();
  std::thread caller([&] { line->wake(); });
  EXPECT_FALSE(*line->read_until(began + 60s));
  caller.join();
}

TEST_F(AServer, TakesNoMemoryForALengthThatMustNotBe) {
  open();
  Error told{Code::kFailed, ""};
  serve_while([&] {
    RawTls line(address(), {&one_});
    ASSERT_TRUE(line.open());
    const size_t before = resident_kilobytes();
    ASSERT_TRUE(line.write(Bytes{3, 0xff, 0xff, 0xff, 0xff, 1, 2, 3}));
    told = line.last_words();
    EXPECT_LT(resident_kilobytes(), before + 50'000);
  });
  EXPECT_EQ(told.code, Code::kIntegrity);
  EXPECT_NE(told.what.find("sent a message of 4294967295 bytes"), std::string::npos) << told.what;
  EXPECT_TRUE(book_.says("refused parley://banks.example/owner/one: sent a message of 4294967295"));
}

TEST_F(AServer, RefusesWhatIsNoFrameAndWhatOnlyALearnerSends) {
  open();
  for (const Bytes& nonsense : {Bytes{0, 0, 0, 0, 0}, Bytes{77, 1, 0, 0, 0, 1},
                                Bytes{5, 0, 0, 0, 0}, Bytes{4, 1, 0, 0, 0, 7}}) {
    Error told{Code::kFailed, ""};
    serve_while([&] {
      RawTls line(address(), {&one_});
      ASSERT_TRUE(line.open() && line.write(nonsense));
      told = line.last_words();
    });
    EXPECT_EQ(told.code, Code::kIntegrity);
    EXPECT_NE(told.what.find("sent "), std::string::npos) << told.what;
  }
}

TEST_F(AServer, KeepsABoundedQueueForAGuestThatDoesNotRead) {
  open();
  ConnectionId id{};
  const auto line = come(&id);
  const size_t before = resident_kilobytes();
  for (int i = 0; i < 100; ++i) server_->send(id, Bytes(wire::kMessageBytesMax / 2));
  EXPECT_LT(resident_kilobytes(), before + 60'000);
  EXPECT_TRUE(std::holds_alternative<Nothing>(server_->next(1ms)));
  server_->send(id, {1});  // Nobody is there for it.
}

TEST_F(AServer, AStreamThatIsSilentOnBothSidesStays) {
  open({.keepalive = 100ms, .keepalive_timeout = 1900ms});
  std::optional<Client> line;
  serve_while([&] {
    Dial quick = dial();
    quick.keepalive = 100ms, quick.keepalive_timeout = 1900ms;
    line.emplace(*Client::open(one_, quick, stop_));
    const auto heard = line->read_until(std::chrono::steady_clock::now() + 3s);
    EXPECT_TRUE(heard && !*heard) << "nobody left, and nothing was said";
  });
}

TEST_F(AServer, AGuestThatIsBusyForLongStays) {
  open({.keepalive = 50ms, .keepalive_timeout = 100ms});
  ConnectionId id{};
  auto line = come(&id);
  serve_for(1s);  // It reads nothing, for it is at work.
  server_->send(id, {7});
  serve_while([&] { EXPECT_EQ(*line->read(), Bytes{7}); });
}

TEST_F(AServer, TellsEveryGuestWhyItsStreamEnds) {
  open();
  ConnectionId id{};
  auto line = come(&id);
  server_->send(id, {1});
  server_->dismiss(id, {Code::kBudgetExhausted, "so\nit \x1b[2J ends", "try\tagain"});
  server_.reset();  // The last words go out.
  EXPECT_EQ(*line->read(), Bytes{1});
  const auto over = line->read();
  EXPECT_EQ(over.error().code, Code::kBudgetExhausted);
  EXPECT_EQ(over.error().what, "so\\u000ait \\u001b[2J ends") << "and a log stays what it is";
  EXPECT_EQ(over.error().hint, "try\\u0009again");
  EXPECT_EQ(line->write({1}).error().code, Code::kBudgetExhausted);
}

TEST_F(AServer, WithoutAListLetsInTheOwnersOfItsConsortiumOnly) {
  open();
  serve_while([&] {
    EXPECT_TRUE(Client::open(banks_.credentials("owner", "anyone"), dial(), stop_));
    EXPECT_FALSE(Client::open(banks_.credentials("learner", "anyone"), dial(), stop_));
  });
}

TEST_F(AServer, WhoeverIsSlowOrSilentOrEndlessInTheHandshakeIsCutOff) {
  open({.handshake = 500ms});
  serve_while([&] {
    const Socket silent = test::connected_to(address());
    const Socket slow = test::connected_to(address());
    const std::string hello("\x16\x03\x01\x3f\xff\x01\0\x3f\xfb\x03\x03", 11);
    ::send(slow.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
    for (int i = 0; i < 20; ++i) {  // A byte now and then, for twice as long as it may.
      ::send(slow.get(), "x", 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_TRUE(test::is_hung_up_on(slow));
    EXPECT_TRUE(test::is_hung_up_on(silent));
    const Socket endless = test::connected_to(address());
    const Bytes warning{0x15, 0x03, 0x03, 0, 2, 1, 0x5a};  // An alert that means nothing.
    ssize_t sent = 1;
    for (size_t i = 0; i < 1'000'000 && sent > 0; ++i)
      sent = ::send(endless.get(), warning.data(), warning.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(test::is_hung_up_on(endless));
  });
  EXPECT_TRUE(book_.says("it did not finish the handshake in time"));
}

/// One who only connects, from another address of this machine.
Socket silent_from(const std::string& source, int port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{}, there{};
  here.sin_family = there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, source.c_str(), &here.sin_addr);
  inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&there), sizeof there), 0);
  return socket;
}

bool is_still_there(const Socket& socket) {
  char byte = 0;
  return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

TEST_F(AServer, OfManyNetworksTheOldestGoes) {
  open();
  int networks = 0;
  const auto from_next = [&] {
    const int i = networks++;
    return silent_from("127.1." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250),
                       server_->port());
  };
  std::vector<Socket> crowd, honest;
  const auto crowd_in = [&](int count) {
    serve_while([&] {
      for (int i = 0; i < count; ++i) crowd.push_back(from_next());
    });
    serve_for(300ms);
  };
  crowd_in(256);
  serve_while([&] {  // Three owners behind one address, which as text comes first.
    for (int i = 0; i < 3; ++i) honest.push_back(silent_from("127.0.0.1", server_->port()));
  });
  crowd_in(100);
  for (const Socket& each : honest) EXPECT_TRUE(is_still_there(each));
  for (size_t i = 0; i < 103; ++i) EXPECT_FALSE(is_still_there(crowd[i])) << i;
  for (size_t i = 103; i < crowd.size(); ++i) EXPECT_TRUE(is_still_there(crowd[i])) << i;
  come();
}

TEST(PeerAddress, OfIpv6IsCountedByWhatOneCustomerMayHave) {
  const auto network = [](const char* text) {
    sockaddr_storage peer{};
    auto& six = reinterpret_cast<sockaddr_in6&>(peer);
    six.sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return peer_address(peer).network;
  };
  EXPECT_EQ(network("2001:db8:5:1::1"), network("2001:db8:5:ffff::2")) << "of one /48";
  EXPECT_NE(network("2001:db8:5:1::1"), network("2001:db8:6:1::1"));
  EXPECT_NE(network("::ffff:10.0.0.1"), network("::ffff:10.0.0.2")) << "IPv4 as IPv6 writes it";
}

/// Renews the key of the stream that often, or until the peer has had enough.
size_t renew_keys(const RawTls& line, size_t times) {
  for (size_t i = 0; i < times; ++i)
    if (!line.renew_key()) return i;
  return times;
}

// TLS 1.3 lets a peer renew its key at any time (RFC 8446, 4.6.3), which reads like silence.
TEST_F(AServer, EndsAStreamThatOnlyRenewsItsKeys) {
  open();
  constexpr size_t kMany = 1'000'000;  // More than fits into the buffers of two sockets.
  for (const bool opens : {false, true}) {
    serve_while([&] {
      RawTls line(address(), {&one_});
      ASSERT_TRUE(opens ? line.open() : line.read(kFrameHead).size() == kFrameHead);
      EXPECT_LT(renew_keys(line, kMany), kMany);
    });
  }
  EXPECT_TRUE(book_.says("it renews its keys without end", 2)) << book_.text();
}

TEST_F(AServer, TakesAMessageInRecordsOfOneByteAndServesOthersMeanwhile) {
  open({.longest = 20'000});
  auto honest = come();
  std::optional<RawTls> slow;
  serve_while([&] {
    slow.emplace(address(), RawTls::Options{&one_});
    ASSERT_TRUE(slow->open());
  });
  const Bytes message = test::any_bytes(7, 20'000);
  std::thread writer([&] {
    for (const uint8_t byte : to_frame(FrameKind::kMessage, message))
      if (!slow->write(Bytes{byte})) return ADD_FAILURE() << "the stream ended";
  });
  EXPECT_EQ(await<Said>().message, message);
  writer.join();
  ASSERT_TRUE(honest->write({1}));
  EXPECT_EQ(await<Said>().message, Bytes{1});
}

TEST_F(AServer, AFloodOfThoseWhoComeAndGoLeavesNothingBehind) {
  open();
  const auto flood = [&] {
    for (int i = 0; i < 3000; ++i) {
      const Socket socket = test::connected_to(address());
      if (i % 2 == 0) ::send(socket.get(), "\x16\x03\x01", 3, MSG_NOSIGNAL);
    }
  };
  serve_while(flood);  // What the libraries keep for ever, they keep now.
  serve_for(300ms);
  const size_t descriptors = open_descriptors(), before = resident_kilobytes();
  serve_while(flood);
  serve_for(300ms);
  EXPECT_LE(open_descriptors(), descriptors + 5);
  EXPECT_LT(resident_kilobytes(), before + 10'000);
  come();
}

TEST_F(AServer, HearsAgainAfterItHadNoDescriptorsLeft) {
  open();
  std::vector<Socket> crowd;
  for (int i = 0; i < 60; ++i) crowd.push_back(test::connected_to(address()));  // Not yet accepted.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit scarce = before;
  scarce.rlim_cur = static_cast<rlim_t>(crowd.back().get()) + 5;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &scarce), 0);
  serve_for(500ms);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(book_.says("refused whoever comes now: this process has no descriptors left"));
  come();
}

TEST_F(AServer, ManyStreamsOfOnePartyTakeABoundedNumberOfDescriptors) {
  open();
  const size_t before = open_descriptors();
  std::vector<Client> lines;
  serve_while([&] {
    for (int i = 0; i < 40; ++i) lines.push_back(*Client::open(one_, dial(), stop_));
  });
  // Each client has a socket and a waker; eight of the server's are left.
  EXPECT_LE(open_descriptors(), before + 2 * lines.size() + 8 + 2);
}

// Whoever has a copy of a party's key, and comes with many streams at the same moment.
TEST_F(AServer, ManyStreamsOfOnePartyDoNotDriveOutTheOneThatIsThere) {
  open();
  ConnectionId id{};
  auto honest = come(&id);
  std::vector<std::unique_ptr<RawTls>> copies;
  serve_while([&] {
    for (int i = 0; i < 20; ++i) {
      copies.push_back(std::make_unique<RawTls>(address(), RawTls::Options{&one_}));
      ASSERT_EQ(copies.back()->read(kFrameHead).size(), kFrameHead) << "accepted";
    }
  });
  for (const auto& each : copies)
    ASSERT_TRUE(each->write(to_frame(FrameKind::kOpen, as_bytes(kAttend))));
  for (const auto until = std::chrono::steady_clock::now() + 500ms;
       std::chrono::steady_clock::now() < until;) {
    const Event event = server_->next(5ms);
    if (const auto* arrived = std::get_if<Arrived>(&event))
      server_->turn_away(arrived->connection, "a copy", {Code::kUnavailable, "not you"});
    const auto* left = std::get_if<Left>(&event);
    ASSERT_FALSE(left != nullptr && left->connection == id);
  }
  server_->send(id, {7});
  serve_while([&] { EXPECT_EQ(*honest->read(), Bytes{7}); });
}

TEST_F(AServer, AlsoListensOnIpv6AndAClientTriesTheAddressesOfANameInTurn) {
  open();  // Where the name has an IPv6 address too, nobody listens there.
  serve_while([&] {
    const auto line = Client::open(one_, {address("localhost"), "", learner_}, stop_);
    EXPECT_TRUE(line) << line.error().what;
  });
  open({.address = "[::]:0"});
  serve_while([&] {
    for (const char* host : {"[::1]", "127.0.0.1"}) {
      const auto line = Client::open(one_, {address(host), "", learner_}, stop_);
      EXPECT_TRUE(line) << line.error().what;
    }
  });
  EXPECT_FALSE(Server::listen({.address = address()}, one_, book_.log())) << "the port is taken";
}

TEST_F(AServer, IsFoundAtAnyOfSeveralAddresses) {
  open();
  test::Consortium others = test::consortium_of_today();
  const RawTlsServer stranger(others.credentials("learner", test::kLearner), {});
  const std::string closed = "127.0.0.1:1", wrong = stranger.address(), right = address();
  const auto open_one_of = [&](std::vector<std::string> all) {
    Dial several = dial();
    several.address.all = std::move(all);
    return Client::open(one_, several, stop_);
  };
  serve_while([&] {
    const auto line = open_one_of({closed, wrong, right});
    ASSERT_TRUE(line) << line.error().what;
    EXPECT_EQ(line->address(), right);
  });
  const auto none = open_one_of({closed, "127.0.0.1:2"});
  EXPECT_EQ(none.error().code, Code::kUnavailable);
  EXPECT_NE(none.error().what.find(closed + " refuses connections"), std::string::npos);
  EXPECT_NE(none.error().what.find("; 127.0.0.1:2 refuses"), std::string::npos);
  EXPECT_EQ(open_one_of({}).error().code, Code::kInvalid);
}

class AClient : public AServer {
 protected:
  Result<Client> call(const RawTlsServer& server) {
    Dial quick{server.address(), "", learner_};
    quick.keepalive = quick.keepalive_timeout = 150ms;
    return Client::open(one_, quick, stop_);
  }
  const Credentials learners_ = banks_.credentials("learner", test::kLearner);
  const Bytes ready_ = to_frame(FrameKind::kReady);
};

TEST_F(AClient, SaysThatAPeerIsOfAnotherVersion) {
  const RawTlsServer old(learners_, {.protocol = ""});  // As gRPC's answers who offers no "h2".
  const auto line = call(old);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::kIntegrity);
  EXPECT_EQ(line.error().what,
            old.address() + " does not speak parley/2: it runs Parley 0.1, or something else");
}

TEST_F(AClient, NoticesAPeerThatHasVanished) {
  const RawTlsServer mute(learners_, {.says = ready_});
  auto line = call(mute);
  ASSERT_TRUE(line) << line.error().what;
  const auto began = std::chrono::steady_clock::now();
  const auto heard = line->read();
  EXPECT_GE(std::chrono::steady_clock::now() - began, 250ms);
  EXPECT_EQ(heard.error().code, Code::kUnavailable);
  EXPECT_NE(heard.error().what.find("has been silent for too long"), std::string::npos);
}

TEST_F(AClient, TakesNoMemoryForALengthThatMustNotBeEither) {
  Bytes says = ready_;
  for (const uint8_t byte : {3, 0xff, 0xff, 0xff, 0xff}) says.push_back(byte);
  const RawTlsServer hostile(learners_, {.says = says});
  auto line = call(hostile);
  const auto heard = line ? line->read() : Result<Bytes>(line.error());
  EXPECT_EQ(heard.error().code, Code::kIntegrity);
  EXPECT_NE(heard.error().what.find("sent a message of 4294967295 bytes"), std::string::npos);
}

TEST_F(AClient, LeavesAPeerThatOnlyRenewsItsKeys) {
  const RawTlsServer hostile(learners_, {.says = ready_, .keys = 1'000'000});
  auto line = call(hostile);
  const auto heard = line ? line->read() : Result<Bytes>(line.error());
  EXPECT_EQ(heard.error().code, Code::kUnavailable);
  EXPECT_NE(heard.error().what.find("it renews its keys without end"), std::string::npos)
      << heard.error().what;
}

// Signs of life without end, and never the word that our certificate is accepted.
TEST_F(AClient, StopsWhatOnlyShowsLifeWhenItIsToldTo) {
  Bytes says;
  for (int i = 0; i < 3000; ++i)
    for (const uint8_t byte : to_frame(FrameKind::kAlive)) says.push_back(byte);
  const RawTlsServer hostile(learners_, {.says = says, .again = true});
  std::thread other([&] { std::this_thread::sleep_for(300ms), stop_ = true; });
  const auto line = Client::open(one_, {hostile.address(), "", learner_}, stop_);
  other.join();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().what, "interrupted");
}

TEST_F(AClient, TakesNoLongerMessageThanItsJobNeeds) {
  Bytes says = ready_;
  for (const uint8_t byte : to_frame(FrameKind::kMessage, Bytes(1001))) says.push_back(byte);
  for (const size_t longest : {1000, 1001}) {
    const RawTlsServer learner(learners_, {.says = says});
    auto line = Client::open(
        one_, {.address = learner.address(), .proxy = "", .learner = learner_, .longest = longest},
        stop_);
    const auto heard = line ? line->read() : Result<Bytes>(line.error());
    if (longest == 1001) {
      EXPECT_EQ(heard->size(), 1001u);
      continue;
    }
    EXPECT_EQ(heard.error().code, Code::kIntegrity);
    EXPECT_NE(heard.error().what.find("sent a message of 1001 bytes, where the longest"),
              std::string::npos)
        << heard.error().what;
  }
}

TEST_F(AClient, StopsWhenItIsToldTo) {
  const RawTlsServer mute(learners_, {.says = ready_});
  auto line = Client::open(one_, {mute.address(), "", learner_}, stop_);
  ASSERT_TRUE(line) << line.error().what;
  std::thread other([&] { std::this_thread::sleep_for(100ms), stop_ = true; });
  EXPECT_EQ(line->read().error().what, "interrupted");
  other.join();
  EXPECT_EQ(Client::open(one_, {"nowhere.invalid:1", "", learner_}, stop_).error().code,
            Code::kUnavailable);
}

TEST_F(AClient, GoesThroughAProxyWhoseAnswerIsBounded) {
  const auto through = [&](const std::string& answer) {
    const Listening proxy = *listen_at("127.0.0.1:0");
    std::thread speaker([&] {
      ::fcntl(proxy.sockets[0].get(), F_SETFL, 0);
      const Socket caller(::accept(proxy.sockets[0].get(), nullptr, nullptr));
      char asked[4096];
      ::recv(caller.get(), asked, sizeof asked, 0);
      for (size_t i = 0; i < 100; ++i)  // And again, if the client has not had enough.
        if (::send(caller.get(), answer.data(), answer.size(), MSG_NOSIGNAL) <= 0) break;
    });
    const std::string where = "http://127.0.0.1:" + std::to_string(proxy.port);
    const auto line = Client::open(one_, {"learner.example:7443", where, learner_}, stop_);
    speaker.join();
    return line ? "connected" : line.error().what;
  };
  EXPECT_EQ(through("HTTP/1.1 403 No\x1b[2J\r\n\r\n"),
            "the proxy refuses: \"HTTP/1.1 403 No\\u001b[2J\"");
  EXPECT_EQ(through(std::string(1000, 'x')), "the proxy does not answer in HTTP");
}

/// Sends a caller's first bytes to the server twice, and carries what the server says about that.
void carry_twice(const Listening& wire, const std::string& server) {
  ::fcntl(wire.sockets[0].get(), F_SETFL, 0);
  const Socket caller(::accept(wire.sockets[0].get(), nullptr, nullptr));
  const Socket onward = *connect_to(server, Deadline(20000));
  char bytes[4096];
  const ssize_t hello = ::recv(caller.get(), bytes, sizeof bytes, 0);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(::send(onward.get(), bytes, size_t(hello), MSG_NOSIGNAL), hello);
  while (wait_for(onward.get(), POLLIN, Deadline(20000))) {
    const ssize_t said = ::recv(onward.get(), bytes, sizeof bytes, 0);
    if (said <= 0) break;
    ::send(caller.get(), bytes, size_t(said), MSG_NOSIGNAL);
  }
}

// A wire may spoil a handshake: that is no refusal, and whoever dials again may have more luck.
TEST_F(AClient, DoesNotTakeABrokenHandshakeForARefusal) {
  open();
  const Listening wire = *listen_at("127.0.0.1:0");
  std::thread carrier([&] { carry_twice(wire, address()); });
  serve_while([&] {
    const Dial spoiled{"127.0.0.1:" + std::to_string(wire.port), "", learner_};
    const auto line = Client::open(one_, spoiled, stop_);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, Code::kUnavailable) << line.error().what;
    EXPECT_NE(line.error().what.find("unexpected_message"), std::string::npos) << line.error().what;
  });
  carrier.join();
}

}  // namespace server_test
}  // namespace parley::net
