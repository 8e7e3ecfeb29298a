// The tiny job at a real port: a learner in a thread of its own, what it logs, and the honest
// owners who finish it whatever strangers did before.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "parley/learn/model.h"
#include "parley/net/learner.h"
#include "parley/net/owner.h"
#include "support/ledgers.h"
#include "support/papers.h"
#include "support/tiny_job.h"

namespace parley::test {

/// Any bytes, always the same.
inline Bytes any_bytes(uint64_t number, size_t size) {
  Bytes bytes;
  for (uint64_t block = 0; bytes.size() < size; ++block) {
    const Hash more = TupleBytes().add(number).add(block).sha256();
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  bytes.resize(size);
  return bytes;
}

inline constexpr const char* kLearner = "central-bank";

/// Lines of a log, written and read by any thread.
class Logbook {
 public:
  net::Log log() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      text_ += line + "\n";
      changed_.notify_all();
    };
  }
  /// Waits until the log has this at least so many times.
  bool says(std::string_view words, size_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count(words) >= times; });
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  size_t count(std::string_view words) const {
    size_t found = 0;
    for (size_t at = 0; (at = text_.find(words, at)) != text_.npos; at += words.size()) ++found;
    return found;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

/// An authority that has existed for a while by the clock on the wall, which TLS goes by.
inline Consortium consortium_of_today(const std::string& name = "banks.example") {
  const int64_t now = SystemClock().unix_seconds();
  Consortium made(name, SetClock(now - 30 * 86400));
  made.clock().at = now;
  return made;
}

inline net::Credentials expired_credentials(Consortium& consortium, const std::string& name) {
  const int64_t now = std::exchange(consortium.clock().at, consortium.clock().at - 10 * 86400);
  net::Credentials credentials = consortium.credentials("owner", name, 1);
  consortium.clock().at = now;
  return credentials;
}

inline charter::Charter tiny_charter() {
  charter::Charter charter;
  charter.name = "tiny";
  charter.consortium = "banks.example";
  charter.hash = some_plan().charter;
  charter.protocol.rounds = kAnswers;
  for (const plan::PlannedOwner& owner : some_plan().owners)
    charter.owners.push_back({.name = owner.name, .rows = int64_t(owner.rows), .epsilon = 1});
  charter.learner.name = kLearner;
  for (const char* name : {"a", "b"})
    charter.schema.columns.push_back({.name = name, .low = -10, .high = 10});
  charter.schema.target = {.column = "y", .low = -10, .high = 10};
  charter.model.box = kBox;
  return charter;
}

class OpenJob {
 public:
  explicit OpenJob(Consortium& consortium, std::chrono::milliseconds greeting = kPatient,
                   std::chrono::milliseconds takeover = std::chrono::seconds(1))
      : consortium_(consortium), folder_(fresh_folder()) {
    std::promise<int> opened;
    thread_ = std::thread([this, &opened, greeting, takeover] {
      const net::LearnerOptions options{.listen = "127.0.0.1:0",
                                        .out = folder_,
                                        .greeting = greeting,
                                        .takeover = takeover,
                                        .opened = [&](int port) { opened.set_value(port); }};
      protocol::SyncLearner learner(some_plan());
      ended_ =
          net::run_learner(tiny_charter(), learner, consortium_.credentials("learner", kLearner),
                           options, consortium_.clock(), stop_, book_.log());
    });
    port_ = opened.get_future().get();
  }
  ~OpenJob() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(folder_);
  }

  Logbook& book() { return book_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  net::Dial dial() const { return {address(), "", {"banks.example", "learner", kLearner}}; }
  Result<net::Client> line(const net::Credentials& credentials) {
    return net::Client::open(credentials, dial(), stop_);
  }

  /// How the job ends by itself.
  const Result<net::LearnerResult>& wait() {
    if (thread_.joinable()) thread_.join();
    return *ended_;
  }
  /// Both honest owners come and stay to the end, and the model is what it is without strangers.
  void finish() {
    std::thread other([&] { attend(2); });
    attend(1);
    other.join();
    const auto& ended = wait();
    ASSERT_TRUE(ended) << ended.error().what;
    const auto model = learn::read_model(ended->model_file);
    const std::vector<double> reference = tiny_reference();
    for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(model->theta[j], reference[j], 1e-3);
  }

 private:
  static constexpr std::chrono::milliseconds kPatient{20'000};
  static constexpr double kEpsilon = 1e6;  // Noise moves the model by less than 1e-4.

  void attend(int number) {
    TestOwner honest(number, kEpsilon);
    std::mutex mutex;
    const auto credentials = consortium_.credentials("owner", number == 1 ? "one" : "two");
    const auto heard = net::attend(*honest.owner, nullptr, mutex, credentials, dial(), {}, stop_,
                                   [](const std::string&) {});
    EXPECT_TRUE(heard) << heard.error().what;
    EXPECT_EQ(honest.ledger.last_round(some_plan().charter), kAnswers);
    EXPECT_LE(honest.ledger.spent(honest.dataset).pure, kEpsilon);
  }

  Consortium& consortium_;
  std::filesystem::path folder_;
  Logbook book_;
  std::atomic<bool> stop_ = false;
  std::optional<Result<net::LearnerResult>> ended_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace parley::test
