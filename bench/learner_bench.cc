// Many owners in one process, so that a learner is what is measured; run by bench/learner.py.
//
//   learner_bench prepare FOLDER OWNERS ROUNDS NUMBERS
//     a charter, and papers for everybody
//   learner_bench owners FOLDER PORT PID
//     a thread for each owner, until the end; prints rounds per second, and processor seconds of
//     the learner PID for each answer, both once all owners have come
//   learner_bench bound OWNERS BYTES ROUNDS
//     rounds per second of as many bytes each way over loopback, plain
//
// Owners have no records and draw no noise; their ledgers are in memory. Receipts are signed.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "parley/base/files.h"
#include "parley/charter/charter.h"
#include "parley/gate/checks.h"
#include "parley/ledger/simulated.h"
#include "parley/net/identity/authority.h"
#include "parley/net/transport/frame.h"
#include "parley/net/transport/socket.h"
#include "parley/net/transport/tls.h"
#include "parley/net/transport/transport.h"
#include "parley/wire/stream.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr char kConsortium[] = "bench.example", kLearner[] = "central";

std::string name_of(size_t owner) { return "owner-" + std::to_string(owner); }

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

// prepare

void write_secret(const fs::path& file, const std::string& text) {
  check(bool(write_file(file, text)));
  fs::permissions(file, fs::perms(0600));
}

void write_papers(const fs::path& folder, const Authority& authority, const Identity& identity,
                  const std::optional<SignKey>& sign_key = std::nullopt) {
  SystemClock clock;
  const Request made = make_request(identity, sign_key);
  const auto certified = *sign(authority, *read_request(made.request, "request"), 30, clock);
  check(bool(write_file(folder / (identity.name + ".crt"), certified.certificate)));
  write_secret(folder / (identity.name + ".key"), made.key);
}

std::string charter_text(size_t rounds, size_t numbers) {
  return "[charter]\nversion = 1\nname = \"bench\"\nconsortium = \"bench.example\"\n"
         "[target]\ncolumn = \"y\"\nbounds = [-1.0, 1.0]\n[[column]]\nname = \"x\"\ncount = " +
         std::to_string(numbers) +
         "\nkind = \"number\"\nbounds = [-1.0, 1.0]\nmissing = 0.0\n"
         "[model]\nloss = \"squared\"\nbox = 1.0\n"
         "[protocol]\nname = \"sync\"\nrule = \"algorithm2\"\nstep = 0.1\nrounds = " +
         std::to_string(rounds) +
         "\n[privacy]\nmax_grad_norm = 1.0\nevaluate = 0.0\n[learner]\nname = \"central\"\n";
}

void prepare(const fs::path& folder, size_t owners, size_t rounds, size_t numbers) {
  SystemClock clock;
  const Authority authority = make_authority(kConsortium, 60, clock);
  check(bool(make_directories(folder)));
  check(bool(write_file(folder / kAuthorityCertificate, authority.certificate)));
  write_papers(folder, authority, {kConsortium, "learner", kLearner});
  std::string text = charter_text(rounds, numbers);
  for (size_t i = 0; i < owners; ++i) {
    const SigningKey key = SigningKey::make();
    write_papers(folder, authority, {kConsortium, "owner", name_of(i)}, key.public_key());
    write_secret(folder / (name_of(i) + ".sign"), key.pem());
    text += "[[owner]]\nname = \"" + name_of(i) + "\"\nrows = 2\nepsilon = 100.0\nsign_key = \"" +
            to_text(key.public_key()) + "\"\n";
  }
  check(bool(write_file(folder / "job.charter.toml", text)));
}

// owners

/// Processor time of a process so far, in seconds.
double processor_of(const std::string& pid) {
  const std::string text = *read_file("/proc/" + pid + "/stat");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string word;
  for (int i = 0; i < 11; ++i) fields >> word;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / double(::sysconf(_SC_CLK_TCK));
}

/// A line that sleeps while it waits: a Client looks for a moment first, and hundreds of those
/// would take the learner's processor.
class Line {
 public:
  Line(const Credentials& credentials, const std::string& address)
      : context_(TlsContext::for_client(credentials, {kConsortium, "learner", kLearner})),
        socket_(*connect_to(address, Deadline(std::chrono::seconds(60)))),
        session_(context_, socket_.get(), split_address(address).host) {
    set_options(socket_, std::chrono::seconds(60));
    work([&] { return session_.shake_hands(); });
    check(read_frame().kind == FrameKind::kReady);
    write_frame(to_frame(FrameKind::kOpen, as_bytes(kAttend)));
  }
  Bytes read() {
    Frame frame = read_frame();
    while (frame.kind == FrameKind::kAlive) frame = read_frame();
    if (frame.kind == FrameKind::kEnd)
      std::fprintf(stderr, "%s\n", decode_end(frame.payload).what.c_str());
    check(frame.kind == FrameKind::kMessage);
    return std::move(frame.payload);
  }
  void write(const Bytes& message) { write_frame(to_frame(FrameKind::kMessage, message)); }

 private:
  template <class Work>
  void work(const Work& step) {
    for (;;) {
      const auto came = step();
      if (came == TlsSession::Step::kDone) return;
      check(came != TlsSession::Step::kOver);
      pollfd watched{socket_.get(),
                     static_cast<short>(came == TlsSession::Step::kWantsRead ? POLLIN : POLLOUT),
                     0};
      ::poll(&watched, 1, -1);
    }
  }
  Frame read_frame() {
    for (;;) {
      size_t count = 0;
      const auto room = reader_.room();
      if (!room.empty()) work([&] { return session_.read(room, count); });
      auto frame = *reader_.take(count);
      if (frame) return *std::move(frame);
    }
  }
  void write_frame(const Bytes& frame) {
    for (size_t done = 0; done < frame.size();) {
      size_t count = 0;
      work([&] { return session_.write(ByteView(frame).subspan(done), count); });
      done += count;
    }
  }

  TlsContext context_;
  Socket socket_;
  TlsSession session_;
  FrameReader reader_{wire::kMessageBytesMax};
};

/// Answers at once, always the same: no records, no noise, and a ledger in memory.
class FakeOwner {
 public:
  FakeOwner(const charter::Charter& charter, const fs::path& folder, size_t place)
      : charter_(charter.hash),
        name_(name_of(place)),
        ledger_(*ledger::Ledger::open_volatile(name_, clock_, ledger::Simulated{})),
        dataset_(
            *ledger_.declare("data", *privacy::Budget::make(privacy::Epsilon{100.0}, 1e-6, 0))),
        key_(*SigningKey::from_pem(*read_secret(folder / (name_ + ".sign")))),
        credentials_(*read_credentials({.consortium = kConsortium,
                                        .certificate = folder / (name_ + ".crt"),
                                        .key = folder / (name_ + ".key"),
                                        .authority = folder / kAuthorityCertificate,
                                        .sign_key = {}},
                                       clock_)) {}

  /// `hear` is called with the number of each message that comes.
  template <class Hear>
  void attend(const std::string& address, const Hear& hear) {
    Line line(credentials_, address);
    wire::Stream stream(charter_);
    line.write(stream.send(wire::Hello{wire::kVersion, 0}));
    for (size_t number = 0;; ++number) {
      const wire::ToOwner message = *stream.receive_to_owner(line.read());
      hear(number);
      if (std::holds_alternative<wire::Finished>(message.body)) return;
      if (const auto* query = std::get_if<wire::ReceivedQuery>(&message.body))
        line.write(stream.send(answer(*query)));
    }
  }

 private:
  wire::Answer answer(const wire::ReceivedQuery& query) {
    const ledger::Query asked{charter_, query.round,
                              gate::query_hash(charter_, query.round, query.theta)};
    const std::vector<int64_t> values(query.theta.size(), 12'345);
    auto released =
        *ledger_.pay_dealt(dataset_, asked, *privacy::Gaussian::make(0x1p40), 1, values);
    const Signature signature = key_.sign(wire::signed_bytes(charter_, name_, released.receipt()));
    return {std::move(released), signature};
  }

  Hash charter_;
  std::string name_;
  SystemClock clock_;
  ledger::Ledger ledger_;
  ledger::DatasetId dataset_;
  SigningKey key_;
  Credentials credentials_;
};

/// From the second question of an owner on, by which all owners have come, to the last one. The
/// welcome comes before the first question.
class Meter {
 public:
  Meter(size_t rounds, std::string pid) : rounds_(rounds), pid_(std::move(pid)) {}
  void hear(size_t number) {
    if (number == 2) start_ = Steady::now(), used_ = processor_of(pid_);
    if (number == rounds_) seconds_ = seconds_since(start_), used_ = processor_of(pid_) - used_;
  }
  void print(size_t owners) const {
    const double rounds = double(rounds_ - 2);
    std::printf("%.17g %.17g\n", rounds / seconds_, used_ / (rounds * double(owners)));
  }

 private:
  size_t rounds_;
  std::string pid_;
  Steady::time_point start_{};
  double seconds_ = 0, used_ = 0;
};

void attend_all(const fs::path& folder, const std::string& port, const std::string& pid) {
  const auto charter = *charter::read_charter(folder / "job.charter.toml");
  std::vector<std::unique_ptr<FakeOwner>> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i)
    owners.push_back(std::make_unique<FakeOwner>(charter, folder, i));
  Meter meter(static_cast<size_t>(charter.answers()), pid);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < owners.size(); ++i)
    threads.emplace_back([&, i] {
      owners[i]->attend("127.0.0.1:" + port, [&](size_t number) {
        if (i == 0) meter.hear(number);
      });
    });
  for (std::thread& thread : threads) thread.join();
  meter.print(owners.size());
}

// bound

/// Both ends of a connection over loopback.
std::array<Socket, 2> connected_pair() {
  const Listening listening = *listen_at("127.0.0.1:0");
  const std::string address = "127.0.0.1:" + std::to_string(listening.port);
  Socket one = *connect_to(address, Deadline(5000));
  check(wait_for(listening.sockets[0].get(), POLLIN, Deadline(5000)));
  Socket other(::accept4(listening.sockets[0].get(), nullptr, nullptr, SOCK_NONBLOCK));
  set_options(one, std::chrono::seconds(60)), set_options(other, std::chrono::seconds(60));
  return {std::move(one), std::move(other)};
}

void move_all(int descriptor, Bytes& bytes, bool write) {
  for (size_t done = 0; done < bytes.size();) {
    const size_t left = bytes.size() - done;
    const ssize_t moved = write ? ::send(descriptor, bytes.data() + done, left, MSG_NOSIGNAL)
                                : ::recv(descriptor, bytes.data() + done, left, 0);
    if (moved > 0) done += static_cast<size_t>(moved);
    if (moved <= 0) check(wait_for(descriptor, write ? POLLOUT : POLLIN, Deadline(60'000)));
  }
}

/// Rounds per second of two threads that do nothing but pass the bytes.
double bound(size_t owners, size_t size, size_t rounds) {
  std::vector<std::array<Socket, 2>> pairs;
  for (size_t i = 0; i < owners; ++i) pairs.push_back(connected_pair());
  std::thread answers([&] {
    Bytes bytes(size);
    for (size_t round = 0; round < rounds; ++round)
      for (const auto& pair : pairs)
        move_all(pair[1].get(), bytes, false), move_all(pair[1].get(), bytes, true);
  });
  Bytes bytes(size);
  const auto start = Steady::now();
  for (size_t round = 0; round < rounds; ++round) {
    for (const auto& pair : pairs) move_all(pair[0].get(), bytes, true);
    for (const auto& pair : pairs) move_all(pair[0].get(), bytes, false);
  }
  const double seconds = seconds_since(start);
  answers.join();
  return double(rounds) / seconds;
}

int run(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const auto number = [&](int i) { return size_t(std::strtoull(words[i], nullptr, 10)); };
  if (what == "prepare" && count == 6)
    prepare(words[2], number(3), number(4), number(5));
  else if (what == "owners" && count == 5)
    attend_all(words[2], words[3], words[4]);
  else if (what == "bound" && count == 5)
    std::printf("%.17g\n", bound(number(2), number(3), number(4)));
  else
    return 2;
  return 0;
}

}  // namespace
}  // namespace parley::net

int main(int count, char** words) { return parley::net::run(count, words); }
