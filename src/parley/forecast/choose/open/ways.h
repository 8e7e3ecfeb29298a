// Protocols among which a draft can leave the choice open, each as the charter that it would be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/tune.h"
#include "parley/plan/noise.h"

namespace parley::forecast {

struct Way {
  enum class Kind { kOwnNoise, kSecureSums, kFederated, kAsync };  // the simplest first
  Kind kind{};
  std::string name{};             // as a ranking calls it
  bool accepted = true;           // else it needs a delta that nobody has accepted
  bool wanted = true;             // else it is only there to be compared with
  charter::Charter charter{};     // the draft with this protocol
  std::vector<Choice> choices{};  // what makes it so

  /// Variance of one coordinate of the owners' mean gradient, for a clip of 1, weights by rows.
  double variance(int64_t rounds) const;
  bool l1() const { return charter.privacy.mechanism == charter::MechanismName::kLaplace; }
};

/// Those that the draft's text allows, each owner's own noise always the first. Gaussian noise
/// where all owners accept a delta (the draft's, or `options.delta`), else Laplace noise, and what
/// a delta would allow besides, not accepted.
std::vector<Way> ways_of(const Draft& draft, const ForecastOptions& options);

/// The federated way with this norm of rows.
Result<Way> with_row_norm(const Draft& draft, const Way& way, double norm);

}  // namespace parley::forecast
