// A design under a protocol, with everything else chosen by its own forecast, and the loss that is
// then expected on new rows.
#pragma once

#include <optional>
#include <vector>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/open/designs.h"
#include "parley/forecast/choose/open/ways.h"

namespace parley::forecast {

struct Finalist {
  SharedDesign design{};
  Way way{};
  Candidate candidate{};
  std::vector<Choice> choices{};  // of federated jobs; of others explain() makes them
  double loss = 0;
};

struct FinalistQuestion {
  const Draft& draft;
  const Given& given;
  const ForecastOptions& options;
};

/// `correction` is added to the loss: what rows that trees have seen promise too much. None where
/// the protocol cannot train this design.
std::optional<Finalist> finalist(const FinalistQuestion& question, const SharedDesign& design,
                                 const Way& way, double correction);

/// Ties (within the standard error of the public rows, or a tenth of what counts) go to the
/// features that stand first, the larger l2, fewer rounds, the simpler protocol.
size_t winner(const std::vector<Finalist>& finalists,
              const std::vector<const FeatureSet*>& in_order);

}  // namespace parley::forecast
