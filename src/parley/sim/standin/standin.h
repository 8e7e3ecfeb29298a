// Stand-ins for data that cannot be shared: rows made to resemble the original by
// a few numbers chosen for it, and none of its records. A row depends on the options and its number
// only, so any block of a file can be made alone, in any order, on any thread, and is the same on
// every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"

namespace parley::sim {

struct Standin {
  std::vector<std::string> columns;
  std::string target;
  uint64_t rows = 0;  // the owners', one after the other, the pilot's, then fresh ones
  /// What the CSV file holds, rounded as there.
  std::function<void(uint64_t row, std::span<double> values, double& target)> draw;
};

struct StandinOptions {
  std::string name;                // one of standin_names
  std::vector<uint64_t> owners{};  // the rows of each
  uint64_t pilot = 10000;          // public rows, after those
  uint64_t seed = 1;
  bool raw = false;     // as measured, instead of ready features, where there is a difference
  double drift = 0.7;   // lending: how much rates change along the rows
  int components = 10;  // lending: features
  uint64_t fresh = 0;   // stays: further rows of each owner, to judge models by
};

inline constexpr std::string_view kStandins[] = {"lending", "credit", "hospital", "stays"};

/// An error if the options cannot be: no such name, too many rows, a pilot too small.
Result<Standin> make_standin(const StandinOptions& options);

/// Writes a header and the rows [begin, end); the file appears whole or not at all. `advance` hears
/// how many rows were made since it was last called.
Result<void> write_csv(const Standin& standin, uint64_t begin, uint64_t end,
                       const std::filesystem::path& path,
                       const std::function<void(uint64_t rows)>& advance = {});

/// Rows and pilot within what can be generated.
Result<void> check_sizes(uint64_t rows, uint64_t pilot);

/// The double nearest to a decimal number of 1/units; no negative zero.
double rounded(double value, double units);

}  // namespace parley::sim
