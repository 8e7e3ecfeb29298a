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
  const auto [app, typed] =
      root.add<DemoOptions>("demo",
                            "Forecast and simulate a job of forty hospitals or on your own file, "
                            "and compare both for every owner",
                            run);
  api::DemoTable& table = typed.table;
  api::DemoOptions& how = typed.how;
  auto* file = app.add_option("file", table.file, "CSV file");
  file->type_name("FILE");
  app.add_option("--target", table.target, "Column to predict")->type_name("COLUMN")->needs(file);
  app.add_option("--by", table.by, "Column whose values name the owners")
      ->type_name("COLUMN")
      ->needs(file);
  app.add_option("--without", table.without, "Columns to leave out: a,b,c")
      ->delimiter(',')
      ->type_name("COLUMN")
      ->needs(file);
  app.add_option("--min-rows", table.min_rows, "Leave out owners with fewer rows")
      ->check(CLI::Range(uint64_t{20}, uint64_t{1'000'000}))
      ->needs(file)
      ->capture_default_str();
  app.add_option("--max-rows", table.max_rows,
                 "Most rows used of one owner, drawn at random; 0: all")
      ->needs(file)
      ->capture_default_str();
  app.add_option("--out", how.out, "Folder for charter, data, page, model and ledgers")
      ->capture_default_str();
  app.add_option("--epsilon", how.epsilon, "Budget of every owner for the whole job")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--differ", how.differ,
                 "How much owners differ, as in `parley forecast` (default: estimated from the "
                 "sites of the public rows)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--worth", how.worth,
                 "Smallest gain that counts: relative decrease of RMSE or log loss (default "
                 "0.005), or difference of AUC (default 0.002)")
      ->check(CLI::PositiveNumber);
  metric_option(app, how.log_loss);
  app.add_option("--seed", typed.seed, "Seed of rows and noise")->capture_default_str();
  auto* web =
      app.add_flag("--web", typed.web, "Show it in a browser: change budgets, train, compare");
  app.add_option("--listen", typed.page.listen, "Serve the page at 127.0.0.1:PORT or unix:PATH")
      ->type_name("ADDRESS")
      ->needs(web)
      ->capture_default_str();
  threads_option(app, how.threads);
  signs_options(app, table.signs);
}

}  // namespace parley::cli
