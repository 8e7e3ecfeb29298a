// How long ledgers of several sizes take to open, verify, export and pay from:
//   ledger_bench [ROWS] [FOLDER]
// Makes ledgers of 0, 10,000 and ROWS (a million) answers of ten numbers, of a thousand charters,
// in FOLDER (the current one), and one of ROWS in format 1, run from the repository's root; times
// what their owner does with them, payments in turn, and removes them. A payment is durable: it is
// as fast as the disk.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/create.h"
#include "parley/ledger/storage/store.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;
constexpr size_t kNumbers = 10, kCharters = 1000;
constexpr uint32_t kTurns = 5, kPayments = 200;  // of each ledger in each turn

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double megabytes_used() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

/// What this process has asked the system to write: bytes and calls. Other programs do not matter.
struct Written {
  double bytes = 0, calls = 0;
};
Written written() {
  std::ifstream io("/proc/self/io");
  Written so_far;
  for (std::string line; std::getline(io, line);) {
    if (line.rfind("wchar:", 0) == 0) so_far.bytes = std::atof(line.c_str() + 6);
    if (line.rfind("syscw:", 0) == 0) so_far.calls = std::atof(line.c_str() + 6);
  }
  return so_far;
}

privacy::Budget large_budget() { return *privacy::Budget::make(privacy::Epsilon{1e6}, 1e-6, 9e5); }

Row some_row(int64_t dataset, int64_t i) {
  static const std::string event = privacy::Laplace::make(1 << 20)->event(1 << 10);
  return {.kind = "answer",
          .dataset = dataset,
          .charter = TupleBytes().add(static_cast<uint64_t>(i) % kCharters).sha256(),
          .round = i / int64_t{kCharters} + 1,
          .event = event,
          .track = "pure",
          .cost = 0x1p-10,
          .answer = Bytes(8 * kNumbers, static_cast<uint8_t>(i))};
}

/// As Ledger would, in one transaction and without a sync for each answer.
void make(const fs::path& file, int64_t format, int64_t rows, Clock& clock) {
  if (format == 1)
    fs::copy_file("tests/golden/ledger-format-1.db", file);  // None is made any more.
  Connection db = *Connection::create(file);
  *db.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  if (format != 1) *create(db, "bank-a", clock, Hash{});
  Chain chain = load(db, [](const Row&) {})->chain;
  *db.run("PRAGMA cache_size = -2000000");  // Rows come in the order of no index.
  Tables tables(std::move(db));
  const Dataset loans{.id = 3, .name = "bench", .budget = large_budget(), .unit = "record"};
  const auto add = [&](Row row) -> Result<void> {
    row.id = chain.size() + 1;
    row.at = clock.now();
    row.previous = chain.head();
    row.hash = hash_of(row);
    TRY(chain.accepts(row));
    TRY(tables.insert(row));
    chain.extend(row);
    return {};
  };
  *tables.in_transaction([&]() -> Result<void> {
    chain.declare(loans);
    TRY(tables.put(loans));
    TRY(add({.kind = "budget", .dataset = 3, .event = budget_event(loans), .track = "none"}));
    for (int64_t i = 0; i < rows; ++i) TRY(add(some_row(3, i)));
    return {};
  });
}

/// A payment like any other, but for the noise, which would take its own time.
void pay_round(Ledger& ledger, DatasetId loans, uint32_t round) {
  static const auto gaussian = *privacy::Gaussian::make(1e12);
  static const std::array<int64_t, kNumbers> answer{};
  (void)*ledger.pay_dealt(loans, {.charter = {1}, .round = round}, gaussian, 1, answer);
}

/// One ledger, and what was measured of it.
struct Measured {
  int64_t format, rows;
  fs::path file{};
  std::optional<Ledger> ledger{};
  DatasetId loans{};
  double verify = 0, exported = 0, first = 0, open = 0, replay = 0;
  std::vector<double> pays{};
  Written wrote{};
  double median() const {
    std::vector<double> sorted = pays;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  double mean() const {
    double sum = 0;
    for (const double each : pays) sum += each;
    return sum / static_cast<double>(pays.size());
  }
};

void prepare(Measured& of, const fs::path& folder, const Keeping& keeping, Clock& clock) {
  of.file =
      folder / ("ledger_bench" + std::to_string(of.format) + "_" + std::to_string(of.rows) + ".db");
  fs::remove(of.file);
  make(of.file, of.format, of.rows, clock);
  of.verify = seconds_of([&] { (void)*verify(of.file); });
  of.exported = seconds_of([&] { (void)*export_events(of.file, "bench"); });
  const auto open = [&] { of.ledger.emplace(*Ledger::open(of.file, "bank-a", clock, keeping)); };
  of.first = seconds_of(open);
  of.ledger.reset();
  of.open = seconds_of(open);
  of.loans = *of.ledger->declare("bench", large_budget());
}

void pay(Measured& of, uint32_t turn) {
  const Written before = written();
  for (uint32_t round = turn * kPayments + 1; round <= (turn + 1) * kPayments; ++round)
    of.pays.push_back(seconds_of([&] { pay_round(*of.ledger, of.loans, round); }));
  const Written after = written();
  of.wrote.bytes += after.bytes - before.bytes;
  of.wrote.calls += after.calls - before.calls;
  of.replay = seconds_of([&] { pay_round(*of.ledger, of.loans, 1); });
}

void run(int64_t rows, const fs::path& folder) {
  SystemClock clock;
  const Keeping keeping{.key = SigningKey::make()};
  Measured all[] = {{2, 0}, {2, std::min<int64_t>(rows, 10'000)}, {2, rows}, {1, rows}};
  for (Measured& each : all) prepare(each, folder, keeping, clock);
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (Measured& each : all) pay(each, turn);
  std::printf("%7s %9s %8s %9s %9s %11s %11s %12s %8s %10s %8s %8s\n", "format", "answers", "MB",
              "verify s", "export s", "open all s", "open again", "pay ms mean", "median",
              "replay ms", "kB paid", "writes");
  for (Measured& each : all) {
    std::printf("%7lld %9lld %8.1f %9.2f %9.2f %11.2f %11.3f %12.3f %8.3f %10.3f %8.2f %8.2f\n",
                static_cast<long long>(each.format), static_cast<long long>(each.rows),
                static_cast<double>(fs::file_size(each.file)) / 1e6, each.verify, each.exported,
                each.first, each.open, each.mean() * 1e3, each.median() * 1e3, each.replay * 1e3,
                each.wrote.bytes / 1e3 / static_cast<double>(each.pays.size()),
                each.wrote.calls / static_cast<double>(each.pays.size()));
    each.ledger.reset();
    fs::remove(each.file);
    fs::remove(fs::path(each.file).replace_extension(".lock"));
  }
  std::printf("%u payments of each, %u in turn; memory %.0f MB at most\n", kTurns * kPayments,
              kPayments, megabytes_used());
}

}  // namespace
}  // namespace parley::ledger

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  parley::ledger::run(count > 1 ? std::atoll(arguments[1]) : 1'000'000,
                      count > 2 ? arguments[2] : ".");
}
