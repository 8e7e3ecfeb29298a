// The demo: many small owners that are unlike each other, a forecast, the job, personal models, and
// what every owner has on rows of its own that no model has seen.
//
//   data of the owners -> a charter in secure sums -> forecast -> simulated job -> report
//
// All of it is in files, so that `parley forecast` and `parley simulate` give the same by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data.h"
#include "parley/progress.h"
#include "parley/report/demo/demo.h"

namespace parley::api {

struct DemoOptions {
  std::filesystem::path out = "parley-demo";
  double epsilon = 1, delta = 1e-6;  // of every owner
  double differ = 0;      // how far owners differ, declared; 0: as the sites of public rows say
  bool log_loss = false;  // judges two classes by it instead of AUC
  std::optional<double> worth{};  // the least gain that counts, as learn::default_worth
  uint64_t seed = 1;              // of generated rows, divisions and noise
  int threads = 0;                // 0: as many as the machine has
  OnProgress training{}, judging{};
};

/// A person's own file. Owners are the values of a column.
struct DemoTable {
  std::filesystem::path file{};
  std::string target{}, by{};
  std::vector<std::string> without{};  // columns to leave out
  uint64_t min_rows = 100;             // values with fewer are put aside
  uint64_t max_rows = 2000;            // so many rows of an owner are used, at random; 0: all
  CsvSigns signs{};
};

/// Forty generated hospitals of 80 to 320 patients (sim/standin/stays.h).
Result<report::Demo> hospitals_demo(const DemoOptions& options);

/// A part of the rows of all owners is taken as public, another is kept to judge by. kInvalid if
/// there is no such column, or fewer than three owners have enough rows.
Result<report::Demo> table_demo(const DemoTable& table, const DemoOptions& options);

}  // namespace parley::api
