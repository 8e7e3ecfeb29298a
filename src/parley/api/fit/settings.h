// The settings of an estimator that fits one table, and the charter of one owner made from them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter.h"

namespace parley::api {

struct FitSettings {
  std::string loss = "logistic";  // logistic | hinge, of two classes; squared | huber
  double huber_delta = 0.1;       // in units of half the target's range
  double epsilon = 1;
  double delta = 0;                              // 0: Laplace noise; else Gaussian
  std::vector<std::array<double, 2>> bounds{};   // of each feature; public
  std::array<double, 2> target_bounds = {0, 1};  // of numbers; public
  std::vector<std::string> columns{};            // names of the features
  std::string target = "y";
  std::array<double, 2> class_weights = {1, 1};
  bool intercept = true;
  /// How long a row can be, scaled to [-1, 1] and with the intercept's 1, in L2, for Laplace noise
  /// in L1; longer ones count less. None: as long as the bounds allow.
  std::optional<double> max_row_norm{};
  std::optional<double> l2{}, max_grad_norm{}, step{};  // none: as docs/reference/c.md says
  std::optional<uint64_t> rounds{};
  uint64_t rows = 0;              // public
  std::string owner = "analyst";  // whose ledger pays
  std::string job = "fit";        // the charter's name: other fits have other names
};

/// The files of a job of one owner, beside each other in a folder.
struct FitFiles {
  std::string charter;  // complete
  std::string bundle;   // features from bounds: bundle.json
};

/// `pilot` is the text of pilot.csv in `folder`; empty: there are no public rows. Writes
/// bundle.json there. kInvalid, with the key, for settings that no charter can have.
Result<FitFiles> fit_files(const FitSettings& settings, const std::string& pilot,
                           const std::filesystem::path& folder);

}  // namespace parley::api
