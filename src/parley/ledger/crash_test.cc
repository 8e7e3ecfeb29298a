// What left is recorded, whatever happens to the process or the disk: killed at any moment, or out
// of room at any write.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace crash_test {

using namespace test;

/// What a child says of an answer once it has it. Smaller than PIPE_BUF, so never seen in part.
struct Report {
  uint32_t job, round;
  Hash answer;
};

/// Lets some microseconds pass, a different number every time; nothing depends on how many.
void dawdle(uint64_t hashes) {
  Hash hash{};
  for (uint64_t i = 0; i < hashes; ++i) hash = sha256(hash);
  check(hash != some_hash(""));  // So that the loop is not optimised away.
}

void limit_file_size(rlim_t bytes) {
  rlimit limit;
  check(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes;
  check(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

struct CrashTest : testing::Test {
  ~CrashTest() override { std::filesystem::remove_all(folder); }
  /// A child that runs `work` and whose reports we read.
  template <class Work>
  pid_t start(const Work& work) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    in = ends[0];
    out = ends[1];
    const pid_t child = start_child(work);
    close(out);
    return child;
  }
  bool take_report() {
    Report report;
    if (::read(in, &report, sizeof report) != sizeof report) return false;
    const std::pair place(report.job, report.round);
    EXPECT_FALSE(reported.contains(place)) << "a round was answered twice";
    reported[place] = report.answer;
    return true;
  }
  /// Takes the last reports and waits: the exit status, or minus the signal that ended the child.
  int finish(pid_t child) {
    while (take_report()) continue;
    close(in);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  /// Opens the ledger and pays, reporting every answer, until `answers` are there or something
  /// fails.
  int pay_and_report(uint32_t answers) {
    auto ledger = Ledger::open(file, "bank-a", clock);
    if (!ledger) return status_of(ledger);
    const auto loans = ledger->declare("loans", pure_budget(1000));
    if (!loans) return status_of(loans);
    for (uint32_t i = 0; i < answers; ++i)
      if (const int status = pay_next(*ledger, *loans, 0)) return status;
    return 0;
  }
  int pay_next(Ledger& ledger, DatasetId loans, uint32_t job) {
    const uint32_t round = ledger.last_round(some_hash(kJobs[job])) + 1;
    const auto answer = pay(ledger, loans, some_query(kJobs[job], round));
    if (!answer) return status_of(answer);
    const Report report{job, round, sha256(bytes_of(*answer))};
    return write(out, &report, sizeof report) == sizeof report ? 0 : 1;
  }
  /// As a daemon with three jobs, each in a thread, until someone ends it.
  int serve() {
    auto ledger = Ledger::open(file, "bank-a", clock);
    if (!ledger) return status_of(ledger);
    const auto loans = ledger->declare("loans", pure_budget(1000));
    if (!loans) return status_of(loans);
    std::mutex mutex;
    std::vector<std::thread> jobs;
    for (uint32_t job = 0; job < std::size(kJobs); ++job)
      jobs.emplace_back([&, job] {
        for (int status = 0; status == 0;) {
          const std::lock_guard lock(mutex);
          status = pay_next(*ledger, *loans, job);
        }
      });
    for (std::thread& job : jobs) job.join();
    return 1;
  }
  /// Reads and verifies all the time; 0 if the chain was always whole, at least `times`.
  int keep_reading(int times, const std::filesystem::path& until) {
    for (int read = 0; read < times || !std::filesystem::exists(until); ++read)
      if (const auto seen = verify(file); !seen) return status_of(seen);
    return 0;
  }

  /// The chain is whole, and every answer that was reported is stored as it was. Returns how many
  /// more are stored.
  size_t expect_recorded() {
    const auto ledger = Ledger::open(file, "bank-a", clock);
    EXPECT_TRUE(ledger) << describe(ledger.error());
    if (!ledger) return 0;
    for (const auto& [place, answer] : reported) {
      const auto stored = ledger->stored(some_query(kJobs[place.first], place.second));
      EXPECT_TRUE(stored && *stored && sha256(bytes_of(**stored)) == answer) << place.second;
    }
    EXPECT_TRUE(verify(file));
    size_t recorded = 0;
    for (const char* job : kJobs) recorded += ledger->last_round(some_hash(job));
    return recorded - reported.size();
  }

  /// Makes a ledger and pays three times with room for files of 0 bytes, then a little more, and so
  /// on until all of it succeeds. `ended` checks how a child ended that did not succeed.
  template <class Ended>
  void fail_at_every_write(void (*on_limit)(int), const Ended& ended) {
    for (rlim_t room = 0;; room += 4000) {  // A page is 4096 bytes.
      ASSERT_LT(room, rlim_t{1} << 20) << "it never succeeds";
      SCOPED_TRACE("room for " + std::to_string(room) + " bytes");
      file = folder / ("ledger" + std::to_string(room) + ".db");
      reported.clear();
      const int status = finish(start([&] {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGXFSZ, on_limit);
        limit_file_size(room);
        return pay_and_report(3);
      }));
      const size_t unreported = expect_recorded();
      if (status == 0) break;
      ended(status, unreported);
    }
    EXPECT_EQ(reported.size(), 3u);
  }

  const std::filesystem::path folder = fresh_folder();
  std::filesystem::path file = folder / "ledger.db";
  StoppedClock clock;
  int in = -1, out = -1;
  static constexpr const char* kJobs[] = {"job", "other", "third"};
  std::map<std::pair<uint32_t, uint32_t>, Hash> reported;
};

TEST_F(CrashTest, EveryAnswerThatLeftSurvivesKillAtAnyMoment) {
  std::mt19937_64 random(20);
  size_t unreported = 0;
  for (int kills = 0; kills < 20; ++kills) {
    const pid_t child = start([&] { return pay_and_report(1000); });
    for (uint64_t wanted = random() % 6; wanted > 0; --wanted) ASSERT_TRUE(take_report());
    dawdle(random() % 10000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(finish(child), -SIGKILL);
    const size_t now = expect_recorded();
    EXPECT_LE(now, unreported + 1) << "only the last answer can be recorded and not have left";
    unreported = now;
  }
}

TEST_F(CrashTest, ReadersAlwaysSeeAWholeChainWhileThreeJobsPayAndTheirDaemonIsKilled) {
  ASSERT_EQ(in_child([&] { return status_of(Ledger::open(file, "bank-a", clock)); }), 0);
  const pid_t reader = start_child([&] { return keep_reading(20, folder / "stop"); });
  std::mt19937_64 random(6);
  for (size_t kills = 1; kills <= 15; ++kills) {
    const pid_t child = start([&] { return serve(); });
    for (uint64_t wanted = 3 + random() % 10; wanted > 0; --wanted) ASSERT_TRUE(take_report());
    dawdle(random() % 10000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(finish(child), -SIGKILL);
    // Not one more each time: while someone reads, what a dying daemon had committed without
    // telling may come to light at the next start only.
    EXPECT_LE(expect_recorded(), kills) << "one transaction at a time";
  }
  std::ofstream(folder / "stop") << "stop";
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0) << "a reader found the chain broken, or could not read";
}

TEST_F(CrashTest, EveryAnswerThatLeftSurvivesDeathAtAnyWriteAlsoWhileTheLedgerIsMade) {
  int deaths = 0, unmade = 0;
  fail_at_every_write(SIG_DFL, [&](int status, size_t unreported) {
    EXPECT_EQ(status, -SIGXFSZ);
    EXPECT_LE(unreported, 1u);
    ++deaths;
    unmade += reported.empty();
  });
  EXPECT_GT(deaths, unmade);
  EXPECT_GT(unmade, 5);
}

TEST_F(CrashTest, WhenTheDiskIsFullNothingLeavesAndNothingIsCharged) {
  int failures = 0;
  fail_at_every_write(SIG_IGN, [&](int status, size_t unreported) {
    EXPECT_EQ(status, status_of(Code::kFailed));
    EXPECT_LT(reported.size(), 3u);
    EXPECT_EQ(unreported, 0u);
    ++failures;
  });
  EXPECT_GE(failures, 10);
}

TEST_F(CrashTest, AfterAFullDiskTheSameLedgerGoesOnOnceThereIsRoom) {
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    limit_file_size(std::filesystem::file_size(file.string() + "-wal") + 100);
    const Hash head = ledger.head();
    if (status_of(pay(ledger, loans, some_query("job", 1))) != status_of(Code::kFailed)) return 1;
    if (ledger.head() != head || ledger.spent(loans).pure != 0) return 2;
    limit_file_size(RLIM_INFINITY);
    if (!pay(ledger, loans, some_query("job", 1))) return 3;
    return ledger.spent(loans).pure == 0.1 ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(verify(file)->rows, 2);
}

}  // namespace crash_test
}  // namespace parley::ledger
