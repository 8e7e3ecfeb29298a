#include "parley/learn/personal/cross_validation.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "parley/base/memory/parallel.h"

namespace parley::learn {
namespace {

/// The rows of a fold, or the others.
std::vector<bool> mask(const std::vector<size_t>& fold_of_row, size_t fold, bool inside) {
  std::vector<bool> use;
  for (size_t of : fold_of_row) use.push_back((of == fold) == inside);
  return use;
}

/// Of every candidate, fitted without a fold: the sum of its losses over the fold's rows.
std::vector<double> held_out_sums(const Losses& loss, const Design& design, const Family& family,
                                  const std::vector<size_t>& fold_of_row, size_t fold) {
  const Models models = family.fitted(OwnLoss(loss, design, mask(fold_of_row, fold, false)));
  const OwnLoss held_out(loss, design, mask(fold_of_row, fold, true));
  std::vector<double> sums;
  for (const std::vector<double>& theta : models)
    sums.push_back(held_out.mean(theta) * static_cast<double>(held_out.rows()));
  return sums;
}

}  // namespace

Result<CrossValidated> cross_validate(const PersonalInput& input, const Family& family,
                                      const FoldPlan& plan, const PersonalOptions& options) {
  Design design(data::columns_of(input.rows), 1);
  std::visit([&](const auto& rows) { design.add(*rows); }, input.rows);
  std::vector<std::vector<size_t>> divisions;
  for (size_t repeat = 0; repeat < plan.repeats; ++repeat)
    divisions.push_back(fold_of_rows(design.rows(), plan.folds, options.seed, repeat));

  CrossValidated result;
  std::vector<std::vector<double>> sums(plan.folds * plan.repeats);
  const auto fit = [&](size_t k) {
    if (k == sums.size())
      result.models =
          family.fitted(OwnLoss(input.loss, design, std::vector<bool>(design.rows(), true)));
    else
      sums[k] =
          held_out_sums(input.loss, design, family, divisions[k / plan.folds], k % plan.folds);
  };
  std::atomic<bool> stopped = false;
  std::mutex one_at_a_time;
  size_t done = 0;
  each_in_parallel(options.threads, sums.size() + 1, [&](size_t k) {
    if (stopped) return;
    fit(k);
    const std::lock_guard lock(one_at_a_time);
    if (!options.go_on(++done, sums.size() + 1)) stopped = true;
  });
  if (stopped) return Error{Code::kFailed, "stopped while personal models were fitted"};

  result.losses.resize(family.candidates.size());
  for (const std::vector<double>& part : sums)  // In their order, whoever made them.
    for (size_t k = 0; k < part.size(); ++k)
      result.losses[k] += part[k] / static_cast<double>(design.rows() * plan.repeats);
  return result;
}

}  // namespace parley::learn
