// A model of one table with differential privacy: what the estimators of the Python package call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/api/fit/settings.h"
#include "parley/data/sources/cells.h"
#include "parley/learn/model.h"

namespace parley::api {

struct FitInput {
  FitSettings settings{};                        // rows and job are filled in
  std::shared_ptr<const data::Cells> records{};  // private
  std::shared_ptr<const data::Cells> pilot{};    // public rows of the same columns; or null
  /// With a seed the noise can be replayed: the model is that of `parley simulate`, bit for bit,
  /// NOT PRIVATE, and no ledger is asked.
  std::optional<uint64_t> seed{};
  std::filesystem::path ledger{};  // that pays; empty: one of this fit alone
  std::string dataset = "data";
  int threads = 0;                                             // 0: as many as the machine has
  std::function<bool(uint64_t done, uint64_t total)> go_on{};  // after every answer
};

struct Fitted {
  learn::Model model;
  std::vector<double> coefficients{};  // of the features as they are given, not as scaled
  double intercept = 0;
  FitFiles files{};
  std::string pilot{};  // pilot.csv
};

Result<Fitted> fit(const FitInput& input);

}  // namespace parley::api
