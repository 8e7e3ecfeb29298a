#include "parley/sim/monte_carlo/monte_carlo.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>

#include "parley/base/memory/parallel.h"
#include "parley/sim/monte_carlo/columns.h"
#include "parley/sim/monte_carlo/pass/pass.h"
#include "parley/sim/monte_carlo/store.h"

namespace parley::sim::monte_carlo {
namespace {

void check_job(const Job& job) {
  const size_t owners = job.population.owners();
  check(owners > 0 && !job.cells.empty() && job.runs > 0);
  check(std::is_sorted(job.rounds.begin(), job.rounds.end()));
  check(job.rounds.empty() || (job.rounds.front() >= 1 && job.rounds.back() <= job.rounds_made()));
  for (const Cell& cell : job.cells)
    check(cell.scales.size() == owners && (cell.weights.empty() || cell.weights.size() == owners));
  if (const auto* async = std::get_if<Async>(&job.rule)) {
    const uint64_t allowed = std::accumulate(async->caps.begin(), async->caps.end(), uint64_t{0});
    check(async->rule.owners.size() == owners);
    check(async->caps.empty() || (async->caps.size() == owners && allowed >= async->rule.rounds));
  }
}

/// Runs that are still to be made, in pieces that are worked on together.
std::vector<std::vector<Column>> pieces_of(const Job& job, const Store& store, int threads) {
  std::vector<Column> columns;
  for (size_t cell = 0; cell < job.cells.size(); ++cell)
    for (uint64_t run = 0; run < job.runs; ++run)
      if (!store.has(cell, run)) columns.push_back({cell, run});
  const size_t lanes = kVectorBytes / sizeof(float);  // Whole vectors, as equal as possible.
  const size_t vectors = (columns.size() + lanes - 1) / lanes;
  const size_t most = std::max<size_t>(1, models_at_once<float>() / lanes);
  const size_t count = std::max((vectors + most - 1) / most,
                                std::min(vectors, static_cast<size_t>(std::max(threads, 1))));
  std::vector<std::vector<Column>> pieces(count);
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = vectors * k / count * lanes;
    const size_t end = std::min(columns.size(), vectors * (k + 1) / count * lanes);
    pieces[k].assign(&columns[begin], &columns[begin] + (end - begin));
  }
  return pieces;
}

std::vector<Finished> run_piece(const Job& job, const Draws& draws, std::span<const Column> columns,
                                const AfterRound& after) {
  if (const auto* schedule = std::get_if<learn::Schedule>(&job.rule))
    return run_sync(job, *schedule, draws, columns, after);
  return run_async(job, std::get<Async>(job.rule), draws, columns, after);
}

Error stopped(const Options& options) {
  return {Code::kFailed, "stopped before all runs were made",
          options.store.empty() ? "Nothing was kept."
                                : "Start it again: the runs that were finished are in " +
                                      options.store.string() + "."};
}

/// All pieces on all threads. What is finished goes to the store at once.
class Work {
 public:
  Work(const Job& job, const Options& options, Store& store)
      : job_(job),
        options_(options),
        store_(store),
        own_(job.seed, job.noise),
        draws_(job.draws ? *job.draws : own_) {}

  Result<void> all(const std::vector<std::vector<Column>>& pieces) {
    std::atomic<size_t> next = 0;
    in_parallel(options_.threads, pieces.size(), [&](size_t, size_t, size_t) {
      for (size_t k = next++; k < pieces.size() && !over_; k = next++) one(pieces[k]);
    });
    if (failure_) return *failure_;
    if (over_) return stopped(options_);
    return {};
  }

 private:
  void one(const std::vector<Column>& columns) {
    const auto after = [&] {
      const std::scoped_lock lock(mutex_);
      if (!over_ && !options_.go_on(columns.size())) over_ = true;
      return !over_;
    };
    const std::vector<Finished> finished = run_piece(job_, draws_, columns, after);
    if (finished.empty()) return;
    const std::scoped_lock lock(mutex_);
    const auto kept = store_.add(columns, finished);
    if (!kept) failure_ = kept.error(), over_ = true;
  }

  const Job& job_;
  const Options& options_;
  Store& store_;
  CounterDraws own_;
  const Draws& draws_;
  std::mutex mutex_{};
  std::atomic<bool> over_ = false;
  std::optional<Error> failure_{};
};

}  // namespace

uint64_t Job::rounds_made() const {
  const auto* schedule = std::get_if<learn::Schedule>(&rule);
  return schedule ? schedule->rounds.size() : std::get<Async>(rule).rule.rounds;
}

Result<std::vector<Sample>> run(const Job& job, const Options& options) {
  check_job(job);
  job.population.optimum();  // Before there are threads.
  Store store = TRY(Store::open(job, options.store));
  Work work(job, options, store);
  TRY(work.all(pieces_of(job, store, options.threads)));
  return store.finish();
}

}  // namespace parley::sim::monte_carlo
