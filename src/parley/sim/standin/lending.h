// Stand-in for the Lending Club data: 22 attributes of a loan and its interest rate, with the
// published summary statistics of the original and none of its records. A drift of the rate along
// the file makes owners differ who hold different parts of it.
//
// A row depends on (seed, row, rows + pilot, drift, along_file) only, so any block of a file can be
// made alone, in any order, on any thread, and is the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/transforms/whitening.h"
#include "parley/sim/standin/standin.h"

namespace parley::sim {

struct LendingOptions {
  uint64_t rows = 0;       // of all owners together
  uint64_t pilot = 10000;  // public rows, after those
  uint64_t seed = 1;
  double drift = 0.7;
  /// Time along the rows and the pilot, from 0 to 1; or the square root of the row's place in a
  /// file of 890,000, the same whatever `rows` is, so that owners of its first rows differ less.
  bool along_file = false;
  int components = 10;
};

class Lending {
 public:
  static constexpr size_t kAttributes = 22;

  /// Draws the pilot and fits the features on it.
  static Result<Lending> make(const LendingOptions& options);

  /// Rows 0 .. rows-1, then the pilot's. What follows is rounded as in the CSV file (attributes and
  /// features to 6 decimals, the rate to 2), so that file and memory hold the same numbers.
  uint64_t rows() const { return options_.rows + options_.pilot; }
  size_t components() const { return static_cast<size_t>(options_.components); }

  /// The attributes; the rate is in percent, within [5.32, 28.99].
  void raw(uint64_t row, std::span<double, kAttributes> attributes, double& rate) const;
  /// Standardised, rotated to principal components and whitened on the pilot.
  void features(uint64_t row, std::span<double> z, double& rate) const;

  static std::vector<std::string> raw_names();
  std::vector<std::string> feature_names() const;  // pc1, pc2, ...

 private:
  Lending(const LendingOptions& options, data::Whitening whitening)
      : options_(options), whitening_(std::move(whitening)) {}
  LendingOptions options_;
  data::Whitening whitening_;
};

/// The column of the rate in the CSV file, its last.
inline constexpr auto kLendingTarget = "int_rate";

/// The attributes, or the features.
Result<Standin> lending_standin(const StandinOptions& options);

}  // namespace parley::sim
