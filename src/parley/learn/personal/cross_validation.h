// Cross-validation of a family of personal models.
#pragma once

#include <vector>

#include "parley/learn/personal/family.h"
#include "parley/learn/personal/folds.h"

namespace parley::learn {

/// One of each for every candidate.
struct CrossValidated {
  std::vector<double> losses{};  // mean over the rows, each predicted without its fold
  Models models{};               // fitted to all rows
};

/// The same on any number of threads: each fit is one thread's. An error if it was stopped.
Result<CrossValidated> cross_validate(const PersonalInput& input, const Family& family,
                                      const FoldPlan& plan, const PersonalOptions& options);

}  // namespace parley::learn
