// parley simulate CHARTER
#include "parley/api/simulate.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "command.h"
#include "studies.h"

namespace parley::cli {
namespace {

struct SimulateOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::vector<std::string> data;  // OWNER=FILE, or one folder
  std::filesystem::path split;    // one file of all owners
  std::string split_by;           // the column that names the owner; empty: consecutive blocks
  std::string standin;
  uint64_t standin_seed = 1;
  std::vector<std::filesystem::path> policies;
  uint64_t seed = 1;
  uint64_t runs = 1;
  std::optional<double> held_out;  // of each owner's rows
  std::filesystem::path judge_on;
  std::optional<double> worth;
  bool log_loss = false;
  bool baseline = false;
  bool continue_after_alarm = false;
  int threads = 0;                    // 0: as many as the machine has
  std::optional<uint64_t> memory_mb;  // for each owner's rows, instead of what policies say
  std::optional<std::filesystem::path> out;
  data::CsvSigns signs;  // of the files named here
};

/// --data as typed, one folder or OWNER=FILE for each owner; what it does not give comes from the
/// owners' policies.
Result<DataSource> data_of(const SimulateOptions& options) {
  if (!options.standin.empty())
    return DataSource(GeneratedData{options.standin, options.standin_seed});
  if (!options.split.empty())
    return DataSource(SplitFile{options.split, options.split_by, options.signs});
  if (options.data.empty() && options.policies.empty())
    return Error{Code::kInvalid, "no data given",
                 "Add --data DIR, --data OWNER=FILE or --policy FILE for each owner, --split FILE, "
                 "or --standin NAME."};
  if (options.data.size() == 1 && std::filesystem::is_directory(options.data[0]))
    return DataSource(OwnerFolder{options.data[0], options.signs});
  OwnerFiles files{.files = {}, .signs = options.signs};
  for (const std::string& text : options.data) {
    const Pair pair = TRY(split_pair(text, "--data"));
    files.files[pair.key] = pair.value;
  }
  return DataSource(std::move(files));
}

Result<Output> run(const SimulateOptions& options, ProgressStyle style) {
  const Charter charter = TRY(Charter::read(options.charter, TRY(overrides(options.set))));
  ProgressOf training(style, "training"), judging(style, "judging");
  parley::SimulateOptions how{.seed = options.seed,
                              .runs = options.runs,
                              .held_out = options.held_out,
                              .judge_on = options.judge_on,
                              .worth = options.worth,
                              .log_loss = options.log_loss,
                              .baseline = options.baseline,
                              .continue_after_alarm = options.continue_after_alarm,
                              .out = options.out.value_or("runs/" + std::to_string(options.seed)),
                              .memory_mb = options.memory_mb,
                              .threads = options.threads,
                              .progress = training.heard(),
                              .judging = judging.heard()};
  for (const auto& file : options.policies) how.policies.push_back(TRY(Policy::read(file)));
  const Simulation result = TRY(api::simulate(charter, TRY(data_of(options)), how, literal()));
  return Output{result.to_text(), result.to_json()};
}

}  // namespace

void add_simulate(Commands root) {
  const auto [app, options] =
      root.add<SimulateOptions>("simulate", "Run a job with all parties in this process", run);
  charter_argument(app, options.charter);
  auto* data =
      app.add_option("--data", options.data,
                     "A folder with <owner>.csv (or .libsvm, or with .zst) and the pilot, or "
                     "one file per owner");
  repeated(data, "DIR|OWNER=FILE");
  auto* split = app.add_option("--split", options.split,
                               "One file of all owners, cut by the charter's row counts or --by");
  split->type_name("FILE")->excludes(data);
  app.add_option("--by", options.split_by, "Column that names the owner")->needs(split);
  app.add_option("--standin", options.standin, "Generated data instead of files")
      ->check(CLI::IsMember({"lending", "credit", "hospital", "stays"}))
      ->excludes(data)
      ->excludes(split);
  app.add_option("--standin-seed", options.standin_seed, "Seed of the generated data")
      ->capture_default_str();
  repeated(app.add_option("--policy", options.policies,
                          "An owner's policy: its budget is enforced, and its data are used where "
                          "--data gives none"),
           "FILE");
  app.add_option("--seed", options.seed, "Same charter, data and seed: same model, bit for bit")
      ->capture_default_str();
  app.add_option("--runs", options.runs, "Independent runs, to average over")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--held-out", options.held_out,
                 "Share of each owner's rows held out of a further run, to evaluate on (default: "
                 "0.2 up to 10,000 rows in all, else 0)")
      ->check(CLI::Range(0.0, 0.5));
  app.add_option("--judge-on", options.judge_on,
                 "Folder with <owner>.csv: new rows to evaluate on, in place of held-out rows")
      ->type_name("DIR");
  app.add_option("--worth", options.worth,
                 "Smallest gain that counts: relative decrease of RMSE or log loss (default "
                 "0.005), or difference of AUC (default 0.002)")
      ->check(CLI::PositiveNumber);
  metric_option(app, options.log_loss);
  app.add_flag("--baseline", options.baseline,
               "Also evaluate each owner's own model with noise at the same epsilon");
  app.add_flag("--continue-after-alarm", options.continue_after_alarm,
               "With protocol.on_alarm = \"ask\": go on after an alarm (default: the job ends)");
  threads_option(app, options.threads);
  app.add_option("--memory-mb", options.memory_mb,
                 "Rows of an owner that need more memory are kept in a file in --out (default: its "
                 "policy's limit, else none)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app.add_option("--out", options.out, "Folder for model and ledgers (default: runs/<seed>)");
  signs_options(app, options.signs);
  set_option(app, options.set);
}

}  // namespace parley::cli
