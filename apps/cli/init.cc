// parley init FILE... --target COLUMN
#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"
#include "parley/report/data/draft.h"

namespace parley::cli {
namespace {

struct InitOptions {
  std::vector<std::filesystem::path> files;  // of the owners
  std::string target;
  std::vector<std::string> without;
  std::filesystem::path pilot;  // empty: none
  std::filesystem::path out;    // empty: stdout
  data::CsvSigns signs;         // of the files named here
};

/// The charter, and every owner's policy beside it.
Result<std::vector<std::string>> write_drafts(const InitOptions& options,
                                              const charter::DraftInput& input,
                                              const charter::Draft& draft) {
  std::vector<std::string> written;
  if (options.out.empty()) return written;
  TRY(write_file(options.out, draft.charter));
  written.push_back(options.out.string());
  for (const charter::DraftOwner& owner : input.owners) {
    const auto file = options.out.parent_path() / (owner.name + ".policy.toml");
    TRY(write_file(file, charter::draft_policy(owner)));
    written.push_back(file.string());
  }
  return written;
}

Result<Output> run(const InitOptions& options, ProgressStyle) {
  if (options.files.empty() && options.pilot.empty())
    return Error{Code::kInvalid, "no files given",
                 "Name the owners' CSV files, or public rows with --pilot FILE, or both."};
  charter::DraftInput input{.target = options.target, .without = options.without};
  if (!options.pilot.empty()) input.pilot = TRY(charter::draft_pilot(options.pilot, options.signs));
  input.owners = TRY(charter::draft_owners(options.files, options.signs));
  report::Drafted drafted{.draft = TRY(charter::draft_charter(input)),
                          .has_pilot = input.pilot.has_value()};
  drafted.files = TRY(write_drafts(options, input, drafted.draft));
  return Output{options.out.empty() ? drafted.draft.charter : "", report::to_json(drafted),
                report::to_note(drafted)};
}

}  // namespace

void add_init(Commands root) {
  const auto [app, options] = root.add<InitOptions>(
      "init", "From files to a draft charter and policies, guesses marked CONFIRM", run);
  app.add_option("files", options.files, "The owners' CSV files; rows are only counted")
      ->type_name("FILE");
  app.add_option("--target", options.target, "The column to predict")
      ->required()
      ->type_name("COLUMN");
  app.add_option("--without", options.without, "Columns to leave out: a,b,c")
      ->delimiter(',')
      ->type_name("COLUMN");
  app.add_option("--pilot", options.pilot, "Public rows, from which kinds and bounds are guessed")
      ->type_name("FILE");
  app.add_option("--out", options.out, "The charter; policies go beside it (default: stdout)")
      ->type_name("FILE");
  signs_options(app, options.signs);
}

}  // namespace parley::cli
