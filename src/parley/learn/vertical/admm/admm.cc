#include "parley/learn/vertical/admm/admm.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/base/memory/parallel.h"
#include "parley/learn/vertical/admm/prox.h"

namespace parley::learn {
namespace {

constexpr double kShareMax = 1e6;
constexpr double kMuchWorse = 1.5;
constexpr int kEarly = 3;  // These rounds may overshoot.

double root_of_squares(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

constexpr size_t kPieces = 16;  // Sums are made of these, so that threads do not change them.

/// Calls work(piece, begin, end) for pieces of [0, size), on all threads.
template <class Work>
void each_piece(int threads, size_t size, const Work& work) {
  in_parallel(threads, kPieces, [&](size_t, size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) work(k, size * k / kPieces, size * (k + 1) / kPieces);
  });
}

double total_loss(const AdmmOptions& options, std::span<const double> scores,
                  std::span<const double> labels) {
  double sums[kPieces] = {};
  const auto add_up = [&](const auto& loss, size_t piece, size_t begin, size_t end) {
    constexpr size_t kBlock = 64;  // Values are made in vectors, and added in their order.
    for (double values[kBlock]; begin < end; begin += kBlock) {
      const size_t count = std::min(kBlock, end - begin);
      const double *score = &scores[begin], *label = &labels[begin];
      for (size_t i = 0; i < count; ++i) values[i] = loss.value(score[i], label[i]);
      for (size_t i = 0; i < count; ++i) sums[piece] += values[i];
    }
  };
  each_piece(options.threads, scores.size(), [&](size_t piece, size_t begin, size_t end) {
    std::visit([&](const auto& loss) { add_up(loss, piece, begin, end); }, options.loss);
  });
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

bool usable(std::span<const double> shares) {
  for (double share : shares)
    if (!(std::fabs(share) <= kShareMax)) return false;
  return true;
}

Error diverged(const AdmmOptions& options, int round) {
  const bool paper = options.scaling == Scaling::kPaper;
  return {Code::kFailed,
          "ADMM sharing diverges: after round " + std::to_string(round) +
              " the model is much worse than none, with rho = " + shortest(options.rho),
          paper ? "The paper's scaling needs a larger rho; scaling \"boyd\" converges for any."
                : "Check the data: columns of very different size, or labels out of range."};
}

/// What share_by_admm carries from round to round.
struct Run {
  const AdmmOptions& options;
  std::span<const double> labels;
  std::vector<PartyStep> parties{};
  std::vector<double> sum{};

  void step(std::span<const double> h, const AdmmHooks& hooks) {
    for (size_t m = 0; m < parties.size(); ++m) {
      parties[m].step(h);
      hooks.after_step(m, parties[m]);
    }
    sum.assign(labels.size(), 0);
    for (const PartyStep& party : parties)
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += party.share()[i];
  }
  double objective() const {
    double penalties = 0;
    for (const PartyStep& party : parties) penalties += party.penalty();
    return (total_loss(options, sum, labels) + penalties) / static_cast<double>(sum.size());
  }
};

}  // namespace

Coordinator::Coordinator(const AdmmOptions& options, std::span<const double> labels, size_t parties)
    : options_(options),
      labels_(labels),
      c_(options.scaling == Scaling::kPaper ? 1 : 1 / static_cast<double>(parties)),
      rho_z_(options.rho * c_),
      sum_(labels.size()),
      z_(labels.size()),
      y_(labels.size()),
      h_(labels.size()) {
  if (options.warm)
    std::visit(
        [&](const auto& loss) {
          for (size_t i = 0; i < y_.size(); ++i) y_[i] = loss.slope(0, labels[i]);
        },
        options.loss);
  make_message(sum_);
}

void Coordinator::make_message(std::span<const double> sum) {
  for (size_t i = 0; i < h_.size(); ++i) h_[i] = c_ * (sum[i] - z_[i]) + y_[i] / options_.rho;
}

void Coordinator::step(std::span<const double> sum) {
  check(sum.size() == sum_.size());
  each_piece(options_.threads, sum.size(), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) h_[i] = sum[i] + y_[i] / rho_z_;
    const auto part = [&](auto all) { return all.subspan(begin, end - begin); };
    std::visit(
        [&](const auto& loss) {
          prox_each(loss, part(std::span<const double>(h_)), part(labels_), rho_z_,
                    part(std::span(z_)));
        },
        options_.loss);
    for (size_t i = begin; i < end; ++i) y_[i] += rho_z_ * (sum[i] - z_[i]);
  });
  primal_ = root_of_squares(sum, z_);
  dual_ = rho_z_ * root_of_squares(sum, sum_);
  sum_.assign(sum.begin(), sum.end());
  make_message(sum);
}

Result<AdmmResult> share_by_admm(const std::vector<data::AnyRows>& columns,
                                 std::span<const double> labels, const AdmmOptions& options,
                                 const AdmmHooks& hooks) {
  check(!columns.empty() && !labels.empty());
  Run run{options, labels};
  for (const data::AnyRows& block : columns) {
    check(data::size_of(block) == labels.size());
    run.parties.push_back(
        TRY(PartyStep::make(block, options.penalty, options.lam, options.rho, options.threads)));
  }
  run.sum.assign(labels.size(), 0);
  const double start = run.objective(), root = std::sqrt(static_cast<double>(labels.size()));
  Coordinator coordinator(options, labels, columns.size());
  AdmmResult result;
  for (int round = 1, worse = 0; round <= options.rounds_max; ++round) {
    run.step(coordinator.message(), hooks);
    coordinator.step(run.sum);
    const double objective = run.objective();
    worse = round > kEarly && objective > kMuchWorse * start ? worse + 1 : 0;
    const bool bad = (worse >= 2 && options.scaling == Scaling::kPaper) ||
                     !std::isfinite(objective) || !usable(run.sum);
    if (bad && options.guard) return diverged(options, round);
    result.rounds.push_back(
        {round, objective, coordinator.primal_residual(), coordinator.dual_residual()});
    hooks.after_round({result.rounds.back(), run.parties, coordinator});
    const double small = options.tolerance * root;
    if (coordinator.primal_residual() <= small && coordinator.dual_residual() <= small) break;
  }
  for (const PartyStep& party : run.parties)
    result.models.emplace_back(party.model().begin(), party.model().end());
  return result;
}

}  // namespace parley::learn
