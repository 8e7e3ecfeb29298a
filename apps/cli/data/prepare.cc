// parley data prepare CHARTER --pilot FILE | --paid EPSILON --policy FILE | --moments FILE...
#include "parley/report/data/prepare.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.h"
#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/data/transforms/bounds_bundle.h"
#include "parley/learn/trees/public_trees.h"
#include "parley/net/paid_moments.h"

namespace parley::cli {
namespace {

struct DataPrepareOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::filesystem::path pilot;
  // In place of public rows: an owner's paid moments, and the pilot that is made of them.
  std::optional<double> paid;
  std::filesystem::path policy;
  std::string dataset;
  std::optional<double> row_norm;
  std::vector<std::filesystem::path> moments;
  uint64_t rows = 10000;
  uint64_t top = 0;
  std::string top_by = "correlation";
  uint64_t components = 0;
  bool whiten = false;
  std::optional<double> cut, length;
  bool bounds = false;
  uint64_t fourier = 0;  // features; 0: none
  double scale = 1;
  bool trees = false;
  learn::BoostOptions grow = learn::kPublicTrees;
  uint64_t seed = 1;
  std::filesystem::path out;  // empty: bundle.json, pilot.csv, <owner>.moments.json
  data::CsvSigns signs;       // of the files named here
};

data::FitOptions fit_options(const DataPrepareOptions& options) {
  using SelectBy = data::Bundle::SelectBy;
  data::FitOptions fit{
      .top = options.top,
      .by = options.top_by == "variance" ? SelectBy::kVariance : SelectBy::kCorrelation,
      .components = options.components,
      .whiten = options.whiten,
      .cut = options.cut,
      .length = options.length};
  if (options.fourier > 0)
    fit.fourier = {.features = options.fourier, .seed = options.seed, .scale = options.scale};
  return fit;
}

Result<data::Bundle> fitted(const DataPrepareOptions& options, const charter::Charter& charter,
                            const data::Rows& rows, const Hash& pilot) {
  if (options.bounds) return data::bounds_bundle(rows, charter.schema, pilot);
  data::FitOptions fit = fit_options(options);
  learn::BoostOptions grow = options.grow;
  grow.seed = options.seed;
  if (options.trees)
    fit.trees = TRY(learn::public_trees(rows, charter::loss_of(charter.model), grow));
  return data::fit_bundle(rows, charter.schema, pilot, fit);
}

/// Relative to the charter if it lies at or below its folder, where the charter may name it.
std::string named_by_charter(const std::filesystem::path& charter,
                             const std::filesystem::path& bundle) {
  const auto relative = std::filesystem::absolute(bundle).lexically_normal().lexically_relative(
      std::filesystem::absolute(charter).lexically_normal().parent_path());
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : bundle.filename().string();
}

/// Without --out.
std::filesystem::path or_else(const std::filesystem::path& out, const std::string& name) {
  return out.empty() ? std::filesystem::path(name) : out;
}

/// A charter may name the file that is there by its hash: another content is not put in its place.
Result<void> write_new(const std::filesystem::path& out, const std::string& content) {
  const auto there = read_file(out);
  if (there && *there == content) return {};
  if (must_be_absent(out)) return write_file(out, content);
  return Error{Code::kInvalid,
               "is there already with another content, and charters may name it: it stays",
               "Move it away, or give another --out.",
               {.file = out.string()}};
}

Result<Output> from_pilot(const DataPrepareOptions& options, const charter::Charter& charter) {
  const Hash pilot = TRY(hash_file(options.pilot));
  if (charter.pilot && charter.pilot->sha256 != pilot)
    return Error{Code::kIntegrity,
                 "is not the charter's pilot: its SHA-256 is " + to_hex(pilot),
                 "Prepare with the file that the charter names.",
                 {.file = options.pilot.string(), .key = "pilot.sha256"}};
  const auto loaded = TRY(
      data::load(data::source_of(options.pilot, options.signs), data::encoding_of(charter.schema)));
  const data::Bundle bundle = TRY(fitted(options, charter, loaded.rows, pilot));
  const auto out = or_else(options.out, "bundle.json");
  const report::Prepared prepared{named_by_charter(options.charter, out), bundle};
  TRY(write_new(out, to_json(prepared.bundle)));
  return Output{report::to_text(prepared), report::to_json(prepared)};
}

Result<Output> pay(const DataPrepareOptions& options, const charter::Charter& charter) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemEntropy entropy;
  SystemClock clock;
  const net::MomentsOrder order{{TRY(privacy::Epsilon::make(*options.paid)), options.row_norm},
                                options.dataset};
  if (const auto noise = net::moments_noise(policy, charter, order))  // Before it is paid for.
    std::fprintf(stderr, "Before payment: %s.\n", noise->c_str());
  const auto moments = TRY(net::release_moments(policy, charter, order, entropy, clock));
  const auto out = or_else(options.out, policy.owner + ".moments.json");
  TRY(write_new(out, to_json(moments)));
  return Output{report::to_text(moments, out.string()), to_json(moments)};
}

Result<Output> draw(const DataPrepareOptions& options, const charter::Charter& charter) {
  std::vector<data::PaidMoments> moments;
  for (const auto& file : options.moments) {
    moments.push_back(TRY(data::moments_from_json(TRY(read_file(file)), file.string())));
    TRY(net::check_moments(charter, moments.back(), file.string()));
  }
  const std::string rows = TRY(data::drawn_pilot(moments, charter.schema, options.rows));
  const auto out = or_else(options.out, "pilot.csv");
  TRY(write_new(out, rows));
  const report::DrawnPilot drawn{named_by_charter(options.charter, out), sha256(as_bytes(rows)),
                                 options.rows, std::move(moments)};
  return Output{report::to_text(drawn), report::to_json(drawn)};
}

Result<Output> run(const DataPrepareOptions& options, ProgressStyle) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  if (options.paid) return pay(options, charter);
  return options.moments.empty() ? from_pilot(options, charter) : draw(options, charter);
}

/// Where there are no public rows, owners pay for moments, and a pilot is drawn from them.
void pilot_or_moments(CLI::App& app, DataPrepareOptions& options) {
  auto* from = app.add_option_group("from", "One of these");
  from->add_option("--pilot", options.pilot, "Public rows, CSV or LIBSVM")->type_name("FILE");
  auto* paid = from->add_option("--paid", options.paid,
                                "Release this owner's noisy moments for this epsilon");
  paid->type_name("EPSILON")->check(CLI::PositiveNumber);
  auto* moments = from->add_option("--moments", options.moments, "Draw a pilot from these moments");
  moments->type_name("FILE");
  from->require_option(1);
  paid->needs(app.add_option("--policy", options.policy, "The owner's policy")
                  ->type_name("FILE")
                  ->needs(paid));
  app.add_option("--dataset", options.dataset, "Data set of the policy, if it has several")
      ->needs(paid);
  app.add_option("--row-norm", options.row_norm,
                 "Scale longer records down to this norm, for less noise")
      ->needs(paid)
      ->check(CLI::PositiveNumber);
  app.add_option("--rows", options.rows, "Rows to draw")
      ->needs(moments)
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
}

void column_options(CLI::App& app, DataPrepareOptions& options) {
  auto* top = app.add_option("--top", options.top, "Number of encoded columns to keep");
  top->check(CLI::PositiveNumber);
  app.add_option("--top-by", options.top_by,
                 "Keep those with the largest correlation with the target, or variance")
      ->check(CLI::IsMember({"correlation", "variance"}))
      ->needs(top)
      ->capture_default_str();
  auto* bounds = app.add_flag("--bounds", options.bounds,
                              "Only scale numbers to [-1, 1] by the charter's bounds");
  bounds->excludes(top);
  app.add_option("--components", options.components, "Number of principal components")
      ->check(CLI::PositiveNumber)
      ->excludes(bounds);
  app.add_flag("--whiten", options.whiten, "Scale components to variance 1")->excludes(bounds);
  app.add_option("--cut", options.cut,
                 "Clamp to this many standard deviations (default with --trees: 4)")
      ->excludes(bounds);
  app.add_option("--length", options.length,
                 "Scale features to this root mean square norm (default with --trees: 2)")
      ->excludes(bounds);
}

/// Returns --trees.
CLI::Option* tree_options(CLI::App& app, DataPrepareOptions& options) {
  learn::BoostOptions& grow = options.grow;
  auto* trees = app.add_option_function<size_t>(
      "--trees", [&](size_t count) { options.trees = true, grow.trees = count; },
      "Number of trees grown on the pilot, such as 40; their leaves become features");
  trees->check(CLI::Range(size_t{1}, data::kTreesMax));
  const auto add = [&](const char* name, auto& value, const char* what) {
    return app.add_option(name, value, what)->needs(trees)->capture_default_str();
  };
  add("--depth", grow.limits.depth, "Depth of a tree")
      ->check(CLI::Range(size_t{1}, data::kDepthMax));
  add("--leaf-rows", grow.limits.leaf_rows, "Fewest pilot rows in a leaf");
  add("--learning-rate", grow.learning_rate, "Learning rate of the boosting");
  add("--subsample", grow.subsample, "Share of the rows that each tree is grown on");
  return trees;
}

}  // namespace

void add_data_prepare(Commands data) {
  const auto [app, options] = data.add<DataPrepareOptions>(
      "prepare",
      "Fit public features on pilot rows, release paid moments, or draw a pilot from them", run);
  app.add_option("charter", options.charter, "Charter or draft with the columns")
      ->required()
      ->type_name("FILE");
  pilot_or_moments(app, options);
  column_options(app, options);
  auto* fourier = app.add_option("--fourier", options.fourier, "Number of random Fourier features");
  fourier->check(CLI::PositiveNumber);
  app.add_option("--scale", options.scale, "Length scale of their Gaussian kernel")
      ->needs(fourier)
      ->capture_default_str();
  tree_options(app, options)->excludes(fourier)->excludes("--bounds");
  fourier->excludes("--bounds");
  app.add_option("--seed", options.seed, "Seed of the Fourier features or of each tree's rows")
      ->capture_default_str();
  app.add_option("--out", options.out,
                 "Output file (default: bundle.json, <owner>.moments.json or pilot.csv)")
      ->type_name("FILE");
  set_option(app, options.set);
  signs_options(app, options.signs);
}

}  // namespace parley::cli
