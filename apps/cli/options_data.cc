// parley init and parley data: what can be typed.
#include "options_parser.h"

namespace parley::cli {
namespace {

void add_describe(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<DataDescribeOptions>();
  CLI::App* app = command(group, invocation, "describe",
                          "What files look like or, with a charter, how it reads your data: as "
                          "private as the data",
                          options);
  auto* files =
      app->add_option("files", options->files, "CSV files; with a charter one, or LIBSVM");
  files->type_name("FILE");
  auto* charter = app->add_option("--charter", options->charter, "Count what it would replace");
  charter->type_name("FILE");
  auto* policy = app->add_option("--policy", options->policy, "Your policy, instead of a file");
  policy->type_name("FILE")->excludes(files)->needs(charter);
  app->add_option("--dataset", options->dataset, "A data set of the policy")->needs(policy);
  add_set(*app, options->set);
  add_signs(*app, options->signs);
}

/// Where there are no public rows, owners pay for moments, and a pilot is drawn from them.
void add_pilot_or_moments(CLI::App& app, DataPrepareOptions& options) {
  auto* from = app.add_option_group("from", "One of these");
  from->add_option("--pilot", options.pilot, "Public rows, CSV or LIBSVM")->type_name("FILE");
  auto* paid = from->add_option("--paid", options.paid,
                                "Release this owner's noisy moments for so much epsilon");
  paid->type_name("EPSILON")->check(CLI::PositiveNumber);
  auto* moments =
      from->add_option("--moments", options.moments, "Draw a pilot from the owners' moments");
  moments->type_name("FILE");
  from->require_option(1);
  paid->needs(app.add_option("--policy", options.policy, "The owner's, with --paid")
                  ->type_name("FILE")
                  ->needs(paid));
  app.add_option("--dataset", options.dataset, "One of several in the policy")->needs(paid);
  app.add_option("--row-norm", options.row_norm, "Shrink longer records to it: less noise")
      ->needs(paid)
      ->check(CLI::PositiveNumber);
  app.add_option("--rows", options.rows, "Of the pilot that is drawn")
      ->needs(moments)
      ->check(CLI::Range(2, 10'000'000))
      ->capture_default_str();
}

void add_prepare(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<DataPrepareOptions>();
  CLI::App* app = command(group, invocation, "prepare",
                          "Make the public bundle of features from pilot rows, or a pilot from "
                          "moments that owners release and pay for",
                          options);
  app->add_option("charter", options->charter, "Charter or draft with the columns")
      ->required()
      ->type_name("FILE");
  add_pilot_or_moments(*app, *options);
  auto* top = app->add_option("--top", options->top, "Keep so many encoded columns");
  top->check(CLI::PositiveNumber);
  app->add_option("--top-by", options->top_by,
                  "The largest correlation with the target, or variance")
      ->check(CLI::IsMember({"correlation", "variance"}))
      ->needs(top)
      ->capture_default_str();
  app->add_option("--components", options->components, "Rotate to so many principal components")
      ->check(CLI::PositiveNumber);
  app->add_flag("--whiten", options->whiten, "Give every component variance 1");
  auto* fourier = app->add_option("--fourier", options->fourier, "So many random Fourier features");
  fourier->check(CLI::PositiveNumber);
  app->add_option("--scale", options->scale, "Distance at which records stop being alike")
      ->needs(fourier)
      ->capture_default_str();
  app->add_option("--seed", options->seed, "Of the Fourier features")
      ->needs(fourier)
      ->capture_default_str();
  app->add_option("--out", options->out,
                  "The file (default: bundle.json, <owner>.moments.json or pilot.csv)")
      ->type_name("FILE");
  add_set(*app, options->set);
  add_signs(*app, options->signs);
}

void add_split(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<DataSplitOptions>();
  CLI::App* app = command(group, invocation, "split", "Cut a CSV file into one per owner", options);
  app->add_option("file", options->file, "CSV file")->required()->type_name("FILE");
  app->add_option("--owners", options->owners, "Their names, a,b,c; each gets <name>.csv")
      ->required()
      ->delimiter(',');
  app->add_option("--shares", options->shares, "Relative sizes, 2,1,1 (default: equal)")
      ->delimiter(',');
  auto* by = app->add_option("--by", options->by, "Rows with the same value here stay together");
  by->type_name("COLUMN");
  app->add_option("--random", options->random, "Each row to an owner at random (default: blocks)")
      ->type_name("SEED")
      ->excludes(by);
  app->add_option("--out", options->out, "Folder for the files")->capture_default_str();
  add_signs(*app, options->signs);
}

void add_generate(CLI::App& group, Invocation& invocation) {
  CLI::App* generate =
      group.add_subcommand("generate", "Make stand-in data")->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, const char* raw, uint64_t pilot) {
    auto options = std::make_shared<DataGenerateOptions>();
    options->standin = name;
    options->pilot = pilot;
    CLI::App* app = command(*generate, invocation, name, help, options);
    app->add_option("--owner", options->owners, "An owner and its rows; repeat for each")
        ->type_name("NAME=ROWS")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app->add_option("--rows", options->rows, "Without owners: rows of one file");
    app->add_option("--pilot", options->pilot, "Public rows, pilot.csv")->capture_default_str();
    app->add_option("--seed", options->seed, "Same seed, same files")->capture_default_str();
    if (raw != nullptr) app->add_flag("--raw", options->raw, raw);
    app->add_option("--out", options->out, "Folder for the files")->capture_default_str();
    return std::pair(app, options);
  };
  const auto [lending, options] = add("lending", "Loans with interest rates, like Lending Club's",
                                      "The 22 attributes instead of 10 whitened features", 10000);
  lending->add_option("--drift", options->drift, "How much rates change along the rows")
      ->capture_default_str();
  add("credit", "Card payments, 0.17 % of them fraud",
      "V1 to V28 and Amount as published instead of standardised", 10000);
  add("hospital", "Lengths of stay; without --owner and --rows 86 hospitals with 1.9 million rows",
      nullptr, 50000);
}

}  // namespace

void add_signs(CLI::App& app, data::CsvSigns& signs) {
  const auto add = [&](const char* name, char& sign, const char* help) {
    app.add_option_function<std::string>(
           name,
           [name, &sign](const std::string& text) {
             const bool tab = text == "tab" || text == "\\t";
             if (!tab && text.size() != 1)
               throw CLI::ValidationError(name, "must be one character, or tab");
             sign = tab ? '\t' : text[0];
           },
           help)
        ->type_name("CHAR");
  };
  add("--separator", signs.separator,
      "Between fields of CSV files, a character or tab (default: ,)");
  add("--decimal", signs.decimal, "Of numbers in CSV files (default: .)");
}

void add_init(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* app =
      command(root, invocation, "init",
              "From files to a draft charter and policies, guesses marked CONFIRM", options);
  app->add_option("files", options->files, "The owners' CSV files; rows are only counted")
      ->type_name("FILE");
  app->add_option("--target", options->target, "The column to predict")
      ->required()
      ->type_name("COLUMN");
  app->add_option("--without", options->without, "Columns to leave out: a,b,c")
      ->delimiter(',')
      ->type_name("COLUMN");
  app->add_option("--pilot", options->pilot, "Public rows, from which kinds and bounds are guessed")
      ->type_name("FILE");
  app->add_option("--out", options->out, "The charter; policies go beside it (default: stdout)")
      ->type_name("FILE");
  add_signs(*app, options->signs);
}

void add_data(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("data", "Make and look at data")->require_subcommand(1);
  add_describe(*group, invocation);
  add_prepare(*group, invocation);
  add_split(*group, invocation);
  add_generate(*group, invocation);
}

}  // namespace parley::cli
