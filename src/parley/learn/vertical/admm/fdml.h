// A baseline for ADMM sharing: synchronous stochastic gradients over distributed features (Hu et
// al., FDML). For a batch of records every party sends its scores, receives the slopes at the sums
// of all scores, and takes a gradient step on its own columns. Without noise, hence NOT PRIVATE.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/data/any_rows.h"
#include "parley/learn/loss.h"

namespace parley::learn {

struct FdmlOptions {
  Losses loss = Logistic{};
  double l2 = 0;    // mean form
  double step = 1;  // divided by the root of the epoch
  int epochs = 20;
  size_t batch = 100;
};

struct FdmlEpoch {
  int epoch = 0;
  double objective = 0;  // mean loss and penalty of all records, after it
};

/// From 0, records in a new order every epoch. The models of the parties after the last; `each`
/// sees those after every one.
std::vector<std::vector<double>> share_by_sgd(
    const std::vector<data::AnyRows>& columns, std::span<const double> labels,
    const FdmlOptions& options, Entropy& entropy,
    const std::function<void(const FdmlEpoch&, const std::vector<std::vector<double>>&)>& each);

}  // namespace parley::learn
