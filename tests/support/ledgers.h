// Ledgers for tests: a folder of its own per test, a clock that stands still, and children to
// fork, kill and starve.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "parley/ledger/ledger.h"
#include "support/bounded.h"

namespace parley::test {

struct StoppedClock final : Clock {
  int64_t unix_seconds() override { return 1794729600; }  // 2026-11-15T08:00:00Z
};

/// An empty folder that no other test uses, also not one in another process.
inline std::filesystem::path fresh_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = testing::TempDir() + "parley_" + test->test_suite_name() +
                                       "_" + test->name() + "_" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

inline Hash some_hash(std::string_view text) { return sha256(as_bytes(text)); }

inline ledger::Query some_query(std::string_view charter, uint32_t round,
                                std::string_view theta = "theta") {
  return {some_hash(charter), round, some_hash(theta)};
}

inline privacy::Budget pure_budget(double epsilon) {
  return *privacy::Budget::make(*privacy::Epsilon::make(epsilon), 0, epsilon);
}

/// Pays sensitivity / scale for three numbers.
inline Result<privacy::Released> pay(ledger::Ledger& ledger, ledger::DatasetId dataset,
                                     const ledger::Query& query, uint64_t scale = 1000,
                                     double sensitivity = 100) {
  static SystemEntropy entropy;
  privacy::Drawn<privacy::Laplace> noise(*privacy::Laplace::make(scale), 3, entropy);
  return ledger.pay(dataset, query, bounded_for_test({1, -20, 300}, sensitivity), std::move(noise));
}

/// All of an answer, as bytes.
inline Bytes bytes_of(const privacy::Released& answer) {
  const privacy::Receipt& receipt = answer.receipt();
  TupleBytes bytes;
  for (const int64_t value : answer.values()) bytes.add(static_cast<uint64_t>(value));
  bytes.add(uint64_t{receipt.round}).add(receipt.event).add(receipt.epsilon_spent);
  return bytes.add(receipt.delta_spent).add(receipt.chain).bytes();
}

/// Forks; the child ends with what `work` returns, below 256.
template <class Work>
pid_t start_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

/// The exit status of a child that runs `work`; -1 if it did not end by itself.
template <class Work>
int in_child(const Work& work) {
  int status = 0;
  const pid_t child = start_child(work);
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// A result as an exit status: 0, or one that names the code.
constexpr int status_of(Code code) { return 10 + static_cast<int>(code); }
template <class T>
int status_of(const Result<T>& result) {
  return result ? 0 : status_of(result.error().code);
}

}  // namespace parley::test
