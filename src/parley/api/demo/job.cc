#include "parley/api/demo/job.h"

#include <fmt/format.h>

#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/charter/toml/canonical.h"
#include "parley/data/sources/source.h"
#include "parley/data/transforms/bundle.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/report/demo/picture.h"
#include "parley/sim/load.h"

namespace parley::api {
namespace {

constexpr double kClippedShare = .9;     // of public gradients are not cut
constexpr double kCut = 4, kLength = 2;  // of standardised columns, as data::FitOptions

/// name,rows,epsilon,delta of every owner; returns the [owners] block.
Result<std::string> write_owners(const DemoData& data, const DemoOptions& options) {
  std::string text = "name,rows,epsilon,delta\n";
  for (const DemoData::Owner& owner : data.owners)
    text += fmt::format("{},{},{},{}\n", owner.name, owner.rows, shortest(options.epsilon),
                        shortest(options.delta));
  const auto file = options.out / "owners.csv";
  TRY(write_file(file, text));
  return fmt::format(
      "[owners]                          # each with its public number of rows and its ε\n"
      "file   = \"owners.csv\"\nsha256 = \"{}\"\n\n",
      to_hex(TRY(hash_file(file))));
}

/// All but the clip, which public rows decide.
std::string charter_text(const DemoData& data, const std::string& owners, const std::string& clip,
                         const std::string& preprocess) {
  return fmt::format(
      "# Made by `parley demo`. `parley charter explain` says what it means.\n"
      "[charter]\nversion    = 1\nname       = \"{}\"\nconsortium = \"demo.example\"\n\n{}"
      "[model]\nloss = \"{}\"\nl2   = {}\nbias = true\n"
      "box  = {}                         # every coefficient is at most this large\n\n"
      "[protocol]\nname   = \"sync\"\n"
      "rule   = \"pilot_newton\"           # Newton steps with the curvature of the public rows\n"
      "rounds = 2\nstep   = 1\n\n"
      "[secure_aggregation]              # the learner sees the sum over all owners only\n"
      "repeats = 0                       # no budget for a sum that fails\n\n"
      "[privacy]\nmechanism     = \"gaussian\"\n{}evaluate      = 0\n\n{}"
      "[learner]\nname = \"learner\"         # has no private input at all\n{}",
      data.name, data.schema, data.classes ? "logistic" : "squared", shortest(data.l2), 5, clip,
      owners, preprocess);
}

/// Columns standardised by the public rows, cut at four deviations; returns the [preprocess] block.
Result<std::string> write_bundle(const std::filesystem::path& file, const CsvSigns& signs) {
  const charter::Charter draft = TRY(charter::read_charter(file));
  const auto pilot = draft.folder / "data" / "pilot.csv";
  const auto rows =
      TRY(data::load(data::source_of(pilot, signs), data::encoding_of(draft.schema))).rows;
  const data::Bundle bundle = TRY(data::fit_bundle(rows, draft.schema, TRY(hash_file(pilot)),
                                                   {.cut = kCut, .length = kLength}));
  TRY(write_file(draft.folder / "bundle.json", to_json(bundle)));
  return fmt::format("\n[preprocess]\nbundle = \"bundle.json\"\nsha256 = \"{}\"\n",
                     to_hex(hash_of(bundle)));
}

/// The clip that nine of ten public gradients do not reach.
Result<double> clip_of(const std::filesystem::path& file, const CsvSigns& signs, int threads) {
  charter::Charter draft = TRY(charter::read_charter(file));
  const std::filesystem::path folders[] = {draft.folder};
  TRY(charter::load_bundle(draft, folders));
  const auto pilot = TRY(charter::load_pilot(draft, folders, signs));
  return forecast::clip_at(draft, forecast::statistics_of(draft.model, pilot, threads),
                           kClippedShare);
}

}  // namespace

Result<Charter> agree(const DemoData& data, const DemoOptions& options) {
  const int threads = threads_or_all(options.threads);
  const auto file = options.out / (data.name + ".charter.toml");
  const std::string owners = TRY(write_owners(data, options));
  std::string preprocess;
  TRY(write_file(file, charter_text(data, owners, "", preprocess)));
  if (data.standardise) {
    preprocess = TRY(write_bundle(file, data.signs));
    TRY(write_file(file, charter_text(data, owners, "", preprocess)));
  }
  const std::string clip =
      fmt::format("max_grad_norm = {}               # nine of ten public gradients are shorter\n",
                  shortest(TRY(clip_of(file, data.signs, threads))));
  TRY(write_file(file, charter_text(data, owners, clip, preprocess)));
  return Charter::read(file);
}

namespace {

Result<sim::SimulateResult> simulated(const sim::SimulateInput& input, const DemoOptions& options,
                                      int threads) {
  const auto answers = static_cast<uint64_t>(input.charter.answers()) * input.owners.size();
  uint64_t done = 0, judged = 0;
  const auto tell = [](const OnProgress& hear, uint64_t so_far, uint64_t all) {
    if (hear) hear(so_far, all);
  };
  return sim::simulate(
      input, {.seed = options.seed,
              .threads = threads,
              .log_loss = options.log_loss,
              .worth = options.worth,
              .out = options.out / "run",
              .progress = [&](uint64_t more) { tell(options.training, done += more, answers); },
              .judged = [&] { tell(options.judging, ++judged, input.owners.size()); }});
}

/// As options.
std::string signs_of(const CsvSigns& signs) {
  std::string text;
  if (signs.separator == '\t')
    text += " --separator tab";
  else if (signs.separator != ',')
    text += fmt::format(" --separator '{}'", signs.separator);
  if (signs.decimal != '.') text += fmt::format(" --decimal '{}'", signs.decimal);
  return text;
}

void describe_files(report::Demo& demo, const DemoData& data, const DemoOptions& options) {
  const std::string charter = data.name + ".charter.toml";
  demo.files = {{"index.html", "all of this as a page, the picture first (picture.svg)"},
                {charter, "what the owners agreed on"},
                {"data/", "the rows of every owner, and the public ones, pilot.csv"},
                {"data/new/", "rows of every owner that nothing was trained on"},
                {"run/", "the joint model and every owner's ledger"}};
  const std::string differs = options.differ > 0 ? " --differ " + shortest(options.differ) : "";
  std::string worth = options.worth ? " --worth " + shortest(*options.worth) : "";
  if (options.log_loss) worth += " --metric log_loss";
  const std::string signs = signs_of(data.signs);
  if (!data.made_by.empty()) demo.commands.push_back(data.made_by);
  for (const std::string& command :
       {"charter explain " + charter,
        "forecast " + charter + differs + worth + signs + " --html forecast.html",
        fmt::format("simulate {} --data data --judge-on data/new{}{} --seed {}", charter, worth,
                    signs, options.seed)})
    demo.commands.push_back("parley " + command);
}

}  // namespace

Result<std::string> pilot_block(const std::filesystem::path& folder, uint64_t rows,
                                const std::string& group) {
  return fmt::format(
      "[pilot]                           # public rows, of no owner\n"
      "file   = \"data/pilot.csv\"\nsha256 = \"{}\"\nrows   = {}\n"
      "group  = {}                   # their sites, which tell how much owners differ\n\n",
      to_hex(TRY(hash_file(folder / "data" / "pilot.csv"))), rows, charter::to_json(group));
}

ForecastOptions forecast_options(const DemoData& data, const DemoOptions& options) {
  return {.signs = data.signs,
          .differ = options.differ,
          .worth = options.worth,
          .log_loss = options.log_loss,
          .threads = options.threads};
}

Result<report::Demo> train(const DemoData& data, const DemoOptions& options, const Charter& agreed,
                           const Forecast& forecast) {
  const charter::Charter& charter = agreed.internal().charter;
  const auto folder = options.out / "data";
  sim::DataSources sources = sim::files_in(folder, charter, data.signs);
  sources.pilot_signs = data.signs;
  sim::SimulateInput input = TRY(sim::load_sources(charter, sources));
  TRY(sim::load_fresh(input, folder / "new", data.signs));
  report::Demo demo{.story = data.story,
                    .owners = data.owners_called,
                    .rows = data.rows_called,
                    .forecast = forecast.internal().forecast,
                    .result = TRY(simulated(input, options, threads_or_all(options.threads))),
                    .folder = options.out.string()};
  describe_files(demo, data, options);
  const auto page = options.out / "index.html";
  TRY(write_file(page, report::to_html(demo)));
  if (const std::string picture = report::picture_of(demo); !picture.empty())
    TRY(write_file(options.out / "picture.svg", picture));
  demo.forecast.report = page.string();
  return demo;
}

Result<report::Demo> run_demo(const DemoData& data, const DemoOptions& options) {
  const Charter charter = TRY(agree(data, options));
  return train(data, options, charter,
               TRY(make_forecast(charter, forecast_options(data, options))));
}

}  // namespace parley::api
