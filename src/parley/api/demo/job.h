// From rows in files to the demo's charter, and from there to its report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/api/demo/demo.h"
#include "parley/charter.h"
#include "parley/forecast.h"

namespace parley::api {

/// What is in the folder: data/<owner>.csv and data/pilot.csv; data/new/<owner>.csv, rows to judge
/// by; perhaps a bundle.
struct DemoData {
  struct Owner {
    std::string name{};
    uint64_t rows = 0;
  };
  std::string name{};                // of the job
  std::vector<std::string> story{};  // sentences for the report
  std::string owners_called = "owners", rows_called = "rows";
  std::vector<Owner> owners{};
  std::string schema{};  // TOML: [pilot], [target] and [[column]] blocks
  bool classes = true;   // the target is one of two
  double l2 = 0;
  std::string made_by{};     // the command that writes the rows
  bool standardise = false;  // columns by the public rows, in a bundle that is then made
  CsvSigns signs{};          // of the files
};

/// A TOML block of [pilot] for data/pilot.csv below the folder. The column `group` names the site
/// of each row, by which the forecast tells how much owners differ.
Result<std::string> pilot_block(const std::filesystem::path& folder, uint64_t rows,
                                const std::string& group);

/// Write the rows, and say what they are.
Result<DemoData> hospitals_data(const DemoOptions& options);
Result<DemoData> table_data(const DemoTable& table, const DemoOptions& options);

/// Writes the charter.
Result<Charter> agree(const DemoData& data, const DemoOptions& options);
/// How the charter is forecast.
ForecastOptions forecast_options(const DemoData& data, const DemoOptions& options);
/// Trains, judges, and writes the page.
Result<report::Demo> train(const DemoData& data, const DemoOptions& options, const Charter& charter,
                           const Forecast& forecast);

/// All of it.
Result<report::Demo> run_demo(const DemoData& data, const DemoOptions& options);

}  // namespace parley::api
