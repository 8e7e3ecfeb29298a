#include "parley/learn/sharing/admm.h"

#include <cmath>
#include <string>
#include <utility>

#include "parley/base/number.h"
#include "parley/learn/sharing/prox.h"

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

double total_loss(const Losses& loss, std::span<const double> scores,
                  std::span<const double> labels) {
  return std::visit(
      [&](const auto& known) {
        double sum = 0;
        for (size_t i = 0; i < scores.size(); ++i) sum += known.value(scores[i], labels[i]);
        return sum;
      },
      loss);
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

  void step(std::span<const double> h) {
    for (PartyStep& party : parties) party.step(h);
    sum.assign(labels.size(), 0);
    for (const PartyStep& party : parties)
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += party.share()[i];
  }
  double objective() const {
    double penalties = 0;
    for (const PartyStep& party : parties) penalties += party.penalty();
    return (total_loss(options.loss, sum, labels) + penalties) / static_cast<double>(sum.size());
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
  for (size_t i = 0; i < h_.size(); ++i) h_[i] = sum[i] + y_[i] / rho_z_;
  std::visit([&](const auto& loss) { prox_each(loss, h_, labels_, rho_z_, z_); }, options_.loss);
  for (size_t i = 0; i < y_.size(); ++i) y_[i] += rho_z_ * (sum[i] - z_[i]);
  primal_ = root_of_squares(sum, z_);
  dual_ = rho_z_ * root_of_squares(sum, sum_);
  sum_.assign(sum.begin(), sum.end());
  make_message(sum);
}

Result<AdmmResult> share_by_admm(
    const std::vector<AnyRows>& columns, std::span<const double> labels, const AdmmOptions& options,
    const std::function<void(const AdmmRound&, const std::vector<PartyStep>&)>& each) {
  check(!columns.empty() && !labels.empty());
  Run run{options, labels};
  for (const AnyRows& block : columns) {
    check(size_of(block) == labels.size());
    run.parties.push_back(
        TRY(PartyStep::make(block, options.penalty, options.lam, options.rho, options.threads)));
  }
  run.sum.assign(labels.size(), 0);
  const double start = run.objective(), root = std::sqrt(static_cast<double>(labels.size()));
  Coordinator coordinator(options, labels, columns.size());
  AdmmResult result;
  for (int round = 1, worse = 0; round <= options.rounds_max; ++round) {
    run.step(coordinator.message());
    coordinator.step(run.sum);
    const double objective = run.objective();
    worse = round > kEarly && objective > kMuchWorse * start ? worse + 1 : 0;
    if ((worse >= 2 && options.scaling == Scaling::kPaper) || !std::isfinite(objective) ||
        !usable(run.sum))
      return diverged(options, round);
    result.rounds.push_back(
        {round, objective, coordinator.primal_residual(), coordinator.dual_residual()});
    each(result.rounds.back(), run.parties);
    const double small = options.tolerance * root;
    if (coordinator.primal_residual() <= small && coordinator.dual_residual() <= small) break;
  }
  for (const PartyStep& party : run.parties)
    result.models.emplace_back(party.model().begin(), party.model().end());
  return result;
}

}  // namespace parley::learn
