// The forecast of a job of rule "gram" without public rows: how much noise it would pay for.
// Without public rows nothing is known about how good its model would be.
#pragma once

#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"
#include "parley/plan/sums/gram.h"

namespace parley::report {

struct NoPilot {
  std::string name{};
  plan::GramNoise noise{};
  std::string notice{};
  std::vector<Choice> chosen{};  // for a draft
};

/// An error where the Gram matrix would be noise. A draft may leave protocol.rounds open.
Result<NoPilot> without_pilot(const charter::Charter& charter);

std::string to_text(const NoPilot& said);
std::string to_json(const NoPilot& said);  // parley.forecast.no_pilot/1

}  // namespace parley::report
