// A draft that leaves its protocol open: features, l2, mechanism and protocol are chosen as well
// (spec, value 4), from coarse to fine. The criterion of designs.h picks features and l2, the
// forecasts themselves compare what is left, protocol by protocol.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/tune.h"

namespace parley::forecast {

struct OpenChoice {
  std::vector<Choice> choices{};
  std::vector<Forecast::Ranked> ranking{};
  std::optional<data::Bundle> bundle{};      // none: the draft has its own
  std::shared_ptr<const data::Rows> rows{};  // the public rows as the chosen features
  std::vector<Warning> warnings{};
};

Result<OpenChoice> choose_open(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                               const Given& given, const ForecastOptions& options);

}  // namespace parley::forecast
