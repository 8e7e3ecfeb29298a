// The papers' files and excerpts of them: which columns of each become features, and how.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/reproduce/data/records.h"

namespace parley::reproduce {

struct MappedColumn {
  enum class Kind {
    kNumber,    // as it stands; blanks, '%' and thousands separators do not matter
    kLog,       // log(1 + number)
    kDigits,    // the first digits of a text: "10+ years" is 10, "120 +" is 120
    kCategory,  // the place of the text in the alphabet of all that occur
  };
  std::string name{};
  Kind kind = Kind::kNumber;
};

/// One file that is known. It is found by its name, which may end in .zst, in the folder of --data
/// or one below it.
struct FileMap {
  std::string data{};                   // "lending", "credit", "hospital", "census" or "digits"
  std::string file{};                   // a '*' at the end: whatever follows
  std::vector<MappedColumn> columns{};  // none of a LIBSVM file, which is taken as it is
  MappedColumn target{};
  std::string owner{};   // the column that names the hospital; empty: owners are cut from the rows
  bool excerpt = false;  // not all that the paper had
};

/// In the order in which they are looked for.
std::span<const FileMap> file_maps();

struct FoundFile {
  const FileMap* map = nullptr;
  std::filesystem::path path{};
};
/// The first known file for this data that the folder has, or an error that names all of them.
Result<FoundFile> find_file(const std::filesystem::path& folder, std::string_view data);

/// The file's columns as numbers; kUnknown where there is none. Records without a target are left
/// out, as are blank lines between tables.
struct Columns {
  size_t columns = 0;
  std::vector<double> values{};  // one record after the other
  std::vector<double> target{};
  std::vector<std::string> owners{};  // of each record, if the map names them
};
Result<Columns> read_columns(const FoundFile& file);

Result<SharedRecords> lending_file(const std::filesystem::path& folder);
Result<SharedRecords> credit_file(const std::filesystem::path& folder);
Result<SharedRecords> hospital_file(const std::filesystem::path& folder);

/// The rate of a loan in percent as the model's label.
double scaled_rate(double percent);

}  // namespace parley::reproduce
