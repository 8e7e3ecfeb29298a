// parley demo [FILE --target COLUMN --by COLUMN]
#include "parley/api/demo/demo.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/api/demo/web.h"

namespace parley::cli {
namespace {

struct DemoOptions {
  api::DemoTable table{};  // without a file: forty hospitals
  api::DemoOptions how{};
  uint64_t seed = 1;
  bool web = false;
  api::PageOptions page{};
};

Result<Output> run(const DemoOptions& typed, ProgressStyle style) {
  ProgressOf training(style, "training"), judging(style, "judging");
  api::DemoOptions options = typed.how;
  options.seed = typed.seed;
  options.training = training.heard(), options.judging = judging.heard();
  const bool own = !typed.table.file.empty();
  if (own && (typed.table.target.empty() || typed.table.by.empty()))
    return Error{Code::kInvalid, "which column to predict, and which one names the owners?",
                 "For example: parley demo patients.csv --target long_stay --by hospital."};
  if (typed.web) {
    heed_interrupts();
    TRY(api::demo_pages(typed.table, options, with_terminal(typed.page), interrupted));
    return Output{};
  }
  const report::Demo demo =
      TRY(own ? api::table_demo(typed.table, options) : api::hospitals_demo(options));
  return Output{to_text(demo), to_json(demo)};
}

}  // namespace

void add_demo(Commands root) {
  const auto [app, typed] = root.add<DemoOptions>(
      "demo",
      "Forty small hospitals, or a file of your own: a forecast, the training, and what each owner "
      "has on its own new rows",
      run);
  api::DemoTable& table = typed.table;
  api::DemoOptions& how = typed.how;
  auto* file = app.add_option("file", table.file, "A CSV file of your own");
  file->type_name("FILE");
  app.add_option("--target", table.target, "The column to predict")
      ->type_name("COLUMN")
      ->needs(file);
  app.add_option("--by", table.by, "The column whose values are the owners")
      ->type_name("COLUMN")
      ->needs(file);
  app.add_option("--without", table.without, "Columns to leave out: a,b,c")
      ->delimiter(',')
      ->type_name("COLUMN")
      ->needs(file);
  app.add_option("--min-rows", table.min_rows, "Owners with fewer rows are put aside")
      ->check(CLI::Range(uint64_t{20}, uint64_t{1'000'000}))
      ->needs(file)
      ->capture_default_str();
  app.add_option("--max-rows", table.max_rows,
                 "So many rows of an owner are used, drawn at random; 0: all")
      ->needs(file)
      ->capture_default_str();
  app.add_option("--out", how.out, "Folder for charter, data, page, model and ledgers")
      ->capture_default_str();
  app.add_option("--epsilon", how.epsilon, "Of every owner, for the whole job")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--differ", how.differ,
                 "How far owners differ, as `parley forecast` takes it (default: as the sites of "
                 "the public rows say)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--worth", how.worth,
                 "The least gain that counts for an owner: a share of RMSE (default 0.005), or a "
                 "difference of AUC (default 0.002)")
      ->check(CLI::PositiveNumber);
  metric_option(app, how.log_loss);
  app.add_option("--seed", typed.seed, "Same seed: same rows, same model, same page")
      ->capture_default_str();
  auto* web = app.add_flag("--web", typed.web,
                           "In a browser: move budgets, then train, watch, and compare");
  app.add_option("--listen", typed.page.listen, "Where the page is: 127.0.0.1:PORT, or unix:PATH")
      ->type_name("ADDRESS")
      ->needs(web)
      ->capture_default_str();
  threads_option(app, how.threads);
  signs_options(app, table.signs);
}

}  // namespace parley::cli
