// parley data generate lending
#include "commands.h"
#include "parley/base/files.h"
#include "parley/base/number.h"
#include "parley/report/generate.h"
#include "parley/sim/lending.h"

namespace parley::cli {
namespace {

struct Block {
  std::string name;
  uint64_t rows;
};

/// The files to write, in order: the owners or one `lending`, then the pilot.
Result<std::vector<Block>> blocks(const DataGenerateOptions& options) {
  std::vector<Block> result;
  for (const std::string& text : options.owners) {
    const Pair pair = TRY(split_pair(text, "--owner"));
    const auto rows = parse_number(pair.value);
    if (!rows || *rows < 1 || *rows > 1e12 || *rows != double(uint64_t(*rows)))
      return Error{Code::kInvalid, "--owner " + text + ": rows must be a whole number above 0",
                   "For example --owner bank-a=100000."};
    if (pair.key.find('/') != std::string::npos)
      return Error{Code::kInvalid, "--owner " + text + ": a name, not a path"};
    result.push_back({pair.key, uint64_t(*rows)});
  }
  if (result.empty() == (options.rows == 0))
    return Error{Code::kInvalid, "give either --rows, for one file, or --owner for each owner",
                 "For example --owner bank-a=100000 --owner bank-b=50000."};
  if (options.rows > 0) result.push_back({"lending", options.rows});
  result.push_back({"pilot", options.pilot});
  return result;
}

}  // namespace

Result<Output> run(const DataGenerateOptions& options, ProgressStyle style) {
  const auto files = TRY(blocks(options));
  uint64_t total = 0;
  for (const Block& block : files) total += block.rows;
  const auto lending = TRY(sim::Lending::make({.rows = total - options.pilot,
                                               .pilot = options.pilot,
                                               .seed = options.seed,
                                               .drift = options.drift}));
  TRY(make_directories(options.out));
  Progress progress(style, "generating", total);
  std::vector<report::GeneratedFile> written;
  const auto columns = options.raw ? sim::LendingColumns::kRaw : sim::LendingColumns::kFeatures;
  for (uint64_t begin = 0; const Block& block : files) {
    const auto path = options.out / (block.name + ".csv");
    TRY(sim::write_lending_csv(lending, columns, begin, begin + block.rows, path,
                               [&](uint64_t rows) { progress.advance(rows); }));
    const Hash hash = TRY(hash_file(path));
    written.push_back({path.string(), block.rows, hash});
    begin += block.rows;
  }
  progress.finish();
  return Output{report::to_text(written), report::to_json(written)};
}

}  // namespace parley::cli
