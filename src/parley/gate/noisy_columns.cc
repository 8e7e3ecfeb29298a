#include "parley/gate/noisy_columns.h"

#include <algorithm>
#include <cmath>

namespace parley::gate {
namespace {

std::vector<double> real(std::span<const int64_t> units, int fraction) {
  std::vector<double> out;
  for (const int64_t each : units) out.push_back(std::ldexp(static_cast<double>(each), -fraction));
  return out;
}

std::vector<double> labels_of(const data::AnyRows& rows) {
  std::vector<double> labels;
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i)
          labels.push_back(std::clamp(kind->label(i), -1.0, 1.0));
      },
      rows);
  return labels;
}

}  // namespace

NoisyColumns::NoisyColumns(const data::AnyRows& rows, const plan::VerticalTerms& terms,
                           size_t owner)
    : plan_(*terms.noisy),
      loss_(terms.loss),
      noise_(terms.noise),
      parties_(terms.columns.size()),
      party_(rows, *terms.noisy, owner) {
  if (owner == terms.label_holder) labels_ = labels_of(rows);
}

std::vector<int64_t> NoisyColumns::share(std::span<const int64_t> published,
                                         std::span<const double> told, Entropy& entropy) {
  std::vector<int64_t> share = party_.step(real(published, plan_.fraction), told);
  for (int64_t& each : share) each += noise_.sample(entropy);
  return share;
}

std::span<const double> NoisyColumns::told_after(std::span<const std::vector<int64_t>> sums) {
  check(!labels_.empty());
  if (!coordinator_ || sums.size() < taken_) {  // The job has resumed from an earlier round.
    const learn::AdmmOptions options{.loss = loss_, .lam = plan_.lam, .rho = plan_.rho};
    coordinator_.emplace(options, labels_, parties_);
    taken_ = 0;
  }
  for (; taken_ < sums.size(); ++taken_) coordinator_->step(real(sums[taken_], plan_.fraction));
  return coordinator_->message();
}

}  // namespace parley::gate
