// parley data generate lending|credit|hospital|stays
#include "parley/report/data/generate.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/sim/standin/hospital.h"
#include "parley/sim/standin/stays.h"

namespace parley::cli {
namespace {

struct DataGenerateOptions {
  std::string standin{};
  std::vector<std::string> owners{};  // name=rows
  uint64_t rows = 0;                  // instead of owners: one file
  uint64_t pilot = 10000;
  uint64_t seed = 1;
  double drift = 0.7;
  bool raw = false;
  uint64_t fresh = 0;
  std::filesystem::path out = ".";
};

struct Block {
  std::string name;
  uint64_t rows;
};

Result<Block> owner_block(const std::string& text) {
  const Pair pair = TRY(split_pair(text, "--owner"));
  const auto rows = parse_number(pair.value);
  if (!rows || *rows < 1 || *rows > 1e12 || *rows != double(uint64_t(*rows)))
    return Error{Code::kInvalid, "--owner " + text + ": rows must be a whole number above 0",
                 "For example --owner bank-a=100000."};
  if (pair.key.find('/') != std::string::npos)
    return Error{Code::kInvalid, "--owner " + text + ": a name, not a path"};
  return Block{pair.key, uint64_t(*rows)};
}

/// hospital-01 .. hospital-86, or to -40.
std::vector<Block> all_hospitals(const std::vector<uint64_t>& sizes) {
  std::vector<Block> result;
  for (uint64_t rows : sizes) {
    const std::string number = std::to_string(result.size() + 1);
    result.push_back({"hospital-" + std::string(2 - number.size(), '0') + number, rows});
  }
  return result;
}

/// The owners' files to write, in order.
Result<std::vector<Block>> blocks(const DataGenerateOptions& options) {
  std::vector<Block> result;
  for (const std::string& text : options.owners) result.push_back(TRY(owner_block(text)));
  const bool sizes = result.empty() && options.rows == 0;
  if (sizes && options.standin == "hospital")
    return all_hospitals(sim::hospital_sizes(86, 1'900'000, options.seed));
  if (sizes && options.standin == "stays") return all_hospitals(sim::stays_sizes(40, options.seed));
  if (result.empty() == (options.rows == 0))
    return Error{Code::kInvalid, "give either --rows, for one file, or --owner for each owner",
                 "For example --owner bank-a=100000 --owner bank-b=50000."};
  if (options.rows > 0) result.push_back({options.standin, options.rows});
  return result;
}

Result<Output> run(const DataGenerateOptions& options, ProgressStyle style) {
  auto files = TRY(blocks(options));
  sim::StandinOptions standin_options{.name = options.standin,
                                      .pilot = options.pilot,
                                      .seed = options.seed,
                                      .raw = options.raw,
                                      .drift = options.drift,
                                      .fresh = options.fresh};
  for (const Block& block : files) standin_options.owners.push_back(block.rows);
  const auto standin = TRY(sim::make_standin(standin_options));
  const size_t owners = files.size();
  files.push_back({"pilot", options.pilot});
  for (size_t i = 0; options.fresh > 0 && i < owners; ++i)
    files.push_back({"new/" + files[i].name, options.fresh});
  TRY(make_directories(options.fresh > 0 ? options.out / "new" : options.out));
  Progress progress(style, "generating", standin.rows);
  std::vector<report::GeneratedFile> written;
  for (uint64_t begin = 0; const Block& block : files) {
    const auto path = options.out / (block.name + ".csv");
    TRY(sim::write_csv(standin, begin, begin + block.rows, path,
                       [&](uint64_t rows) { progress.advance(rows); }));
    const Hash hash = TRY(hash_file(path));
    written.push_back({path.string(), block.rows, hash});
    begin += block.rows;
  }
  progress.finish();
  return Output{report::to_text(written), report::to_json(written)};
}

}  // namespace

void add_data_generate(Commands data) {
  const Commands group = data.group("generate", "Generate stand-in data");
  const auto add = [&](const char* name, const char* help, const char* raw, uint64_t pilot) {
    const auto added =
        group.add<DataGenerateOptions>(name, help, run, {.standin = name, .pilot = pilot});
    const auto& [app, options] = added;
    repeated(app.add_option("--owner", options.owners, "An owner and its rows; repeat for each"),
             "NAME=ROWS");
    app.add_option("--rows", options.rows, "Rows of one file, without --owner");
    app.add_option("--pilot", options.pilot, "Public rows, written to pilot.csv")
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Same seed, same files")->capture_default_str();
    if (raw != nullptr) app.add_flag("--raw", options.raw, raw);
    app.add_option("--out", options.out, "Folder for the files")->capture_default_str();
    return added;
  };
  const auto [lending, options] = add("lending", "Loans with interest rates, like Lending Club's",
                                      "The 22 attributes instead of 10 whitened features", 10000);
  lending.add_option("--drift", options.drift, "How much rates change along the rows")
      ->capture_default_str();
  add("credit", "Card payments, 0.17 % of them fraud",
      "V1 to V28 and Amount as published instead of standardised", 10000);
  add("hospital", "Lengths of stay; by default 86 hospitals with 1.9 million rows", nullptr, 50000);
  const auto [stays, of_stays] =
      add("stays", "Long stays in small hospitals that differ; by default 40 of 80 to 320 patients",
          nullptr, 304);
  of_stays.fresh = 4000;
  stays
      .add_option("--new", of_stays.fresh,
                  "Further rows of each owner, in the folder new, for `parley simulate --judge-on`")
      ->capture_default_str();
}

}  // namespace parley::cli
