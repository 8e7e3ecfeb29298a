#include "parley/audit/two_world.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <span>
#include <vector>

#include "parley/base/memory/parallel.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::audit {
namespace {

constexpr size_t kChunk = 64;     // plays of one seeded stream
constexpr int kThresholds = 200;  // tried on the first half

using Scores = std::span<const double>;

/// One stream of noise, so that no score depends on the number of threads.
Result<void> play_chunk(const Play& play, World world, const Effort& effort, size_t chunk,
                        std::span<double> scores) {
  const char* label = world == World::kFirst ? "audit first" : "audit second";
  sim::SeededEntropy entropy(effort.seed, label, chunk);
  for (double& score : scores) score = TRY(play(world, entropy));
  return {};
}

Error interrupted() {
  return {Code::kFailed, "interrupted: nothing is certified",
          "Certificates come from all the runs that were asked for; ask for fewer with --runs."};
}

/// All plays of one world, in batches that take about as long as a person waits without noticing.
class Plays {
 public:
  Plays(const Play& play, World world, const Effort& effort)
      : play_(play), world_(world), effort_(effort), scores_(effort.runs) {}

  Result<std::vector<double>> all() {
    const size_t chunks = (scores_.size() + kChunk - 1) / kChunk;
    size_t at_once = static_cast<size_t>(effort_.threads);
    for (size_t first = 0; first < chunks;) {
      const size_t last = std::min(chunks, first + at_once);
      const auto started = std::chrono::steady_clock::now();
      batch(first, last);
      if (std::chrono::steady_clock::now() - started < kPatience) at_once *= 2;
      if (failed_) return *failed_;
      if (!effort_.go_on(end_of(last - 1) - first * kChunk)) return interrupted();
      first = last;
    }
    return std::move(scores_);
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{50};

  size_t end_of(size_t chunk) const { return std::min(scores_.size(), (chunk + 1) * kChunk); }

  void batch(size_t first, size_t last) {
    in_parallel(effort_.threads, last - first, [&](size_t, size_t begin, size_t end) {
      for (size_t chunk = first + begin; chunk < first + end; ++chunk) {
        const size_t from = chunk * kChunk;
        const auto scores = std::span(scores_).subspan(from, end_of(chunk) - from);
        const auto played = play_chunk(play_, world_, effort_, chunk, scores);
        const std::scoped_lock lock(mutex_);
        if (!played && !failed_) failed_ = played.error();
      }
    });
  }

  const Play& play_;
  World world_;
  const Effort& effort_;
  std::vector<double> scores_;
  std::mutex mutex_;
  std::optional<Error> failed_{};
};

/// "The second world" is said where the score is at least the threshold.
Counts count(Scores first, Scores second, double threshold) {
  const auto said = [&](Scores scores) {
    return static_cast<uint64_t>(std::count_if(scores.begin(), scores.end(),
                                               [&](double score) { return score >= threshold; }));
  };
  return {said(second), said(first), first.size()};
}

/// Scores that split all of them into equal parts.
std::vector<double> candidates(Scores first, Scores second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  std::vector<double> thresholds;
  for (int i = 1; i < kThresholds; ++i)
    thresholds.push_back(all[all.size() * static_cast<size_t>(i) / kThresholds]);
  thresholds.push_back(all.back());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  return thresholds;
}

using Bound = double (*)(const Counts&, double delta, double alpha);

double certify(Bound bound, Scores first, Scores second, double delta, double alpha) {
  const size_t half = first.size() / 2;
  const Scores try_first = first.first(half), try_second = second.first(half);
  double best = 0, threshold = 0;
  for (const double candidate : candidates(try_first, try_second)) {
    const double found = bound(count(try_first, try_second, candidate), delta, alpha);
    if (found > best) best = found, threshold = candidate;
  }
  if (best == 0) return 0;
  return bound(count(first.subspan(half), second.subspan(half), threshold), delta, alpha);
}

}  // namespace

Result<Certificate> two_world(const Play& play, const Claim& claim, const Effort& effort) {
  if (effort.runs < 2) return Error{Code::kInvalid, "an audit needs at least 2 runs"};
  const std::vector<double> first = TRY(Plays(play, World::kFirst, effort).all());
  const std::vector<double> second = TRY(Plays(play, World::kSecond, effort).all());
  const bool gaussian = claim.gaussian && claim.delta > 0;
  const double alpha = gaussian ? effort.alpha / 2 : effort.alpha;  // of each bound
  const uint64_t counted = first.size() - first.size() / 2;
  Certificate certificate{
      .clopper_pearson = certify(epsilon_clopper_pearson, first, second, claim.delta, alpha),
      .if_perfect = epsilon_if_perfect(counted, claim.delta, alpha)};
  if (gaussian) certificate.gaussian = certify(epsilon_gaussian, first, second, claim.delta, alpha);
  return certificate;
}

}  // namespace parley::audit
