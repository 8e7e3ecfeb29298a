// How long a large ledger takes to open, verify, export and pay from, and how large it is:
//   ledger_bench [ROWS] [FOLDER]
// Makes a ledger of ROWS (a million) answers of ten numbers, of a thousand charters, in FOLDER (the
// current one), times what its owner does with it, and removes it. A payment is durable: it is as
// fast as the disk.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "parley/base/entropy.h"
#include "parley/gate/gate.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/create.h"
#include "parley/ledger/storage/store.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;
constexpr size_t kNumbers = 10, kCharters = 1000;
constexpr uint32_t kPayments = 1000;

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

privacy::Budget large_budget() { return *privacy::Budget::make(privacy::Epsilon{1e6}, 0, 1e6); }

/// As Ledger would, in one transaction and without a sync for each answer.
void make(const fs::path& file, int64_t rows, Clock& clock) {
  Connection db = *Connection::create(file);
  *db.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  *create(db, "bank-a", clock, Hash{});
  Chain chain = load(db, [](const Row&) {})->chain;
  *db.run("PRAGMA cache_size = -2000000");  // Rows come in the order of no index.
  Tables tables(std::move(db));
  const Dataset loans{.id = 1, .name = "loans", .budget = large_budget(), .unit = "record"};
  const std::string event = privacy::Laplace::make(1 << 20)->event(1 << 10);
  *tables.in_transaction([&]() -> Result<void> {
    chain.declare(loans);
    TRY(tables.put(loans));
    for (int64_t i = 0; i <= rows; ++i) {
      Row row{.kind = "answer",
              .dataset = 1,
              .charter = TupleBytes().add(static_cast<uint64_t>(i) % kCharters).sha256(),
              .round = (i - 1) / int64_t{kCharters} + 1,
              .event = event,
              .track = "pure",
              .cost = 0x1p-10,
              .answer = Bytes(8 * kNumbers, static_cast<uint8_t>(i))};
      if (i == 0)
        row = {.kind = "budget", .dataset = 1, .event = budget_event(loans), .track = "none"};
      row.id = i + 1;
      row.at = clock.now();
      row.previous = chain.head();
      row.hash = hash_of(row);
      TRY(chain.accepts(row));
      TRY(tables.insert(row));
      chain.extend(row);
    }
    return {};
  });
}

/// A gate over a few records, so that the time of an answer is the ledger's.
gate::Gate open_gate(Ledger& ledger, DatasetId loans, Entropy& entropy) {
  auto rows = std::make_shared<data::Rows>(kNumbers);
  const std::array<double, kNumbers> record{1};
  for (int i = 0; i < 8; ++i) rows->add(record, 1);
  const auto lattice = *learn::Lattice::make(8, 24, kNumbers);
  plan::Terms terms{.charter = {1},
                    .rows = rows->size(),
                    .answers = kPayments,
                    .box = 1,
                    .unit_records = 1,
                    .loss = learn::Squared{},
                    .lattice = lattice,
                    .mechanism = *privacy::Laplace::calibrate(plan::sensitivity<L1>(lattice, 1),
                                                              kPayments, privacy::Epsilon{1})};
  return *gate::Gate::open(gate::Records(std::shared_ptr<const data::Rows>(std::move(rows))),
                           std::move(terms), ledger, loans, entropy, 1);
}

void pay(const fs::path& file, Clock& clock) {
  SystemEntropy entropy;
  std::optional<Ledger> ledger;
  std::printf("open            %8.2f s, checking everything\n",
              seconds_of([&] { ledger.emplace(*Ledger::open(file, "bank-a", clock)); }));
  gate::Gate gate = open_gate(*ledger, *ledger->declare("loans", large_budget()), entropy);
  const std::array<double, kNumbers> theta{};
  const double seconds = seconds_of([&] {
    for (uint32_t round = 1; round <= kPayments; ++round) (void)*gate.answer(round, theta);
  });
  std::printf("pay             %8.3f ms for each answer, durable\n", seconds / kPayments * 1e3);
  const double replays = seconds_of([&] {
    for (uint32_t round = 1; round <= kPayments; ++round) (void)*gate.answer(round, theta);
  });
  std::printf("replay          %8.3f ms for each answer\n", replays / kPayments * 1e3);
}

void run(int64_t rows, const fs::path& folder) {
  const fs::path file = folder / "ledger_bench.db";
  SystemClock clock;
  fs::remove(file);
  std::printf("made            %8.2f s for %lld answers of %zu numbers\n",
              seconds_of([&] { make(file, rows, clock); }), static_cast<long long>(rows), kNumbers);
  std::printf("size            %8.1f MB, %.0f bytes for each answer\n",
              static_cast<double>(fs::file_size(file)) / 1e6,
              static_cast<double>(fs::file_size(file)) / static_cast<double>(rows));
  std::printf("verify          %8.2f s\n", seconds_of([&] { (void)*verify(file); }));
  std::printf("export          %8.2f s\n", seconds_of([&] { (void)*export_events(file, ""); }));
  pay(file, clock);
  std::printf("memory          %8.0f MB at most\n", megabytes_used());
  fs::remove(file);
  fs::remove(folder / "ledger_bench.lock");
}

}  // namespace
}  // namespace parley::ledger

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  parley::ledger::run(count > 1 ? std::atoll(arguments[1]) : 1'000'000,
                      count > 2 ? arguments[2] : ".");
}
