// Where the owners' rows come from, for simulations: files, a folder, one file that is split,
// tables in memory, or generated rows that stand in for data that cannot be shared.
//
//   parley::Table table;
//   table.columns = {{"income", std::vector<double>{31, 52}},
//                    {"home", std::vector<std::string>{"RENT", "OWN"}},
//                    {"rate", std::vector<double>{12.5, 7.1}}};
//   const parley::DataSource data = parley::OwnerTables{{{"bank-a", table}}};
//
// A charter says which columns are read, in which bounds, and how many rows each owner has. A row
// can be odd, never wrong: numbers outside the bounds are moved to them, what is missing or
// unreadable becomes a public constant. Only the structure can be wrong, such as a column that is
// not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace parley {

/// How a CSV file separates fields and writes decimals.
struct CsvSigns {
  char separator = ',';
  char decimal = '.';
};

/// Columns in memory, all of the same length. A NaN and an empty text are missing values.
struct Table {
  struct Column {
    std::string name;
    std::variant<std::vector<double>, std::vector<std::string>> values;
  };
  std::vector<Column> columns;
};

/// A table for each owner, by its name in the charter.
struct OwnerTables {
  std::map<std::string, Table> tables;
};

/// A file for each owner, by its name in the charter: CSV, or LIBSVM if its name ends in .libsvm,
/// .svm or .svmlight, perhaps packed (.zst).
struct OwnerFiles {
  std::map<std::string, std::filesystem::path> files;
  CsvSigns signs{};
};

/// <folder>/<owner>.csv or .libsvm, perhaps with .zst, for every owner of the charter; the
/// charter's pilot and bundle lie there, too, or beside the charter.
struct OwnerFolder {
  std::filesystem::path folder;
  CsvSigns signs{};
};

/// One file with the rows of all owners. Without `by` they are consecutive blocks, as long as the
/// charter says, in its order; with it, a row belongs to the owner whose name its value in that
/// column makes: "St. Mary's" makes st-mary-s. Rows of nobody are left out.
struct SplitFile {
  std::filesystem::path file;
  std::string by{};
  CsvSigns signs{};
};

/// Generated rows with the published statistics of a data set and none of its records: "lending",
/// "credit", "hospital" or "stays". The charter's columns must be among the stand-in's (an error
/// lists them); owners hold consecutive blocks, and the pilot is what follows. Same seed, same
/// rows.
struct GeneratedData {
  std::string name = "lending";
  uint64_t seed = 1;
};

using DataSource = std::variant<GeneratedData, OwnerTables, OwnerFiles, OwnerFolder, SplitFile>;

}  // namespace parley
