// parley data split FILE --owners a,b,c
#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"
#include "parley/data/readers/csv_split.h"
#include "parley/report/data/generate.h"

namespace parley::cli {
namespace {

struct DataSplitOptions {
  std::filesystem::path file;
  std::vector<std::string> owners;
  std::vector<double> shares;  // empty: equal
  std::string by;
  std::optional<uint64_t> seed;  // each row to an owner at random; without: blocks
  std::filesystem::path out = ".";
  CsvSigns signs;  // of the files named here
};

Result<std::vector<data::CsvPart>> parts_of(const DataSplitOptions& options) {
  if (!options.shares.empty() && options.shares.size() != options.owners.size())
    return Error{Code::kInvalid, "--shares needs one number per owner",
                 "For example --owners a,b,c --shares 2,1,1."};
  std::vector<data::CsvPart> parts;
  for (size_t i = 0; i < options.owners.size(); ++i) {
    const std::string& owner = options.owners[i];
    const auto file = options.out / (owner + ".csv");
    if (owner.empty() || owner.find('/') != std::string::npos)
      return Error{Code::kInvalid, "--owners: a name, not a path", "For example --owners a,b,c."};
    for (const data::CsvPart& part : parts)
      if (part.file == file)
        return Error{Code::kInvalid, "--owners names " + owner + " twice",
                     "Give every owner a name of its own."};
    parts.push_back({.file = file, .share = options.shares.empty() ? 1 : options.shares[i]});
  }
  return parts;
}

Result<Output> run(const DataSplitOptions& options, ProgressStyle) {
  const auto parts = TRY(parts_of(options));
  const data::CsvSplit split{
      .separator = options.signs.separator, .by = options.by, .random_seed = options.seed};
  TRY(make_directories(options.out));
  std::vector<report::GeneratedFile> written;
  const auto split_parts = TRY(data::split_csv(options.file, split, parts));
  for (const data::CsvPart& part : split_parts) {
    const Hash hash = TRY(hash_file(part.file));
    written.push_back({part.file.string(), part.rows, hash});
  }
  return Output{report::to_text(written), report::to_json(written)};
}

}  // namespace

void add_data_split(Commands data) {
  const auto [app, options] =
      data.add<DataSplitOptions>("split", "Split a CSV file into one for each owner", run);
  app.add_option("file", options.file, "CSV file")->required()->type_name("FILE");
  app.add_option("--owners", options.owners, "Owners' names, a,b,c; each gets <name>.csv")
      ->required()
      ->delimiter(',');
  app.add_option("--shares", options.shares, "Relative sizes, 2,1,1 (default: equal)")
      ->delimiter(',');
  auto* by =
      app.add_option("--by", options.by, "Keep rows with the same value of this column together");
  by->type_name("COLUMN");
  app.add_option("--random", options.seed, "Assign rows to owners at random (default: in blocks)")
      ->type_name("SEED")
      ->excludes(by);
  app.add_option("--out", options.out, "Folder for the files")->capture_default_str();
  signs_options(app, options.signs);
}

}  // namespace parley::cli
