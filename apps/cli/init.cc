// parley init FILE... --target COLUMN
#include <CLI/CLI.hpp>
#include <algorithm>

#include "command.h"
#include "parley/base/files.h"
#include "parley/charter/charter.h"
#include "parley/plan/sums/gram.h"
#include "parley/report/data/draft.h"

namespace parley::cli {
namespace {

struct InitOptions {
  std::vector<std::filesystem::path> files;  // of the owners
  std::string target;
  std::vector<std::string> without;
  std::string id;               // of a record, where owners hold columns
  std::filesystem::path pilot;  // empty: none
  std::filesystem::path out;    // empty: stdout
  std::vector<std::string> epsilon;
  std::optional<double> delta;  // none: a usual one
  data::CsvSigns signs;         // of the files named here
};

Result<void> set_epsilons(const InitOptions& options, std::vector<charter::DraftOwner>& owners) {
  const PerOwner given = TRY(per_owner(options.epsilon, "--epsilon"));
  for (charter::DraftOwner& owner : owners) owner.epsilon = given.all.value_or(1);
  for (const auto& [name, epsilon] : given.owners) {
    const auto at = std::find_if(owners.begin(), owners.end(),
                                 [&](const auto& owner) { return owner.name == name; });
    if (at == owners.end())
      return Error{Code::kInvalid, "--epsilon " + name + ": no file gives such an owner",
                   "Owners are named after their files: Bank_A.csv is bank-a."};
    at->epsilon = epsilon;
  }
  return {};
}

/// The charter, and every owner's policy beside it.
Result<std::vector<std::string>> write_drafts(const InitOptions& options,
                                              const charter::DraftInput& input,
                                              const charter::Draft& draft) {
  std::vector<std::string> written;
  if (options.out.empty()) return written;
  std::vector<FileToMake> files = {{options.out, draft.charter}};
  for (const charter::DraftOwner& owner : input.owners)
    files.push_back({options.out.parent_path() / (owner.name + ".policy.toml"),
                     charter::draft_policy(owner, !input.id.empty())});
  TRY(make_files(files));  // What is there may hold decisions of people, and stays.
  for (const FileToMake& file : files) written.push_back(file.path.string());
  return written;
}

/// Would the Gram matrix of this draft tell anything? Its rule is left open otherwise.
Result<charter::Draft> draft_of(charter::DraftInput& input) {
  auto draft = TRY(charter::draft_charter(input));
  const auto parsed = charter::parse_charter(draft.charter, "the draft", ".");
  if (!parsed || !parsed->complete() || plan::gram_notice(*parsed)) return draft;
  input.gram = false;
  return charter::draft_charter(input);
}

Result<Output> run(const InitOptions& options, ProgressStyle) {
  if (options.files.empty() && options.pilot.empty())
    return Error{Code::kInvalid, "no files given",
                 "Name the owners' CSV files, or public rows with --pilot FILE, or both."};
  charter::DraftInput input{.target = options.target, .without = options.without, .id = options.id};
  if (!options.pilot.empty()) input.pilot = TRY(charter::draft_pilot(options.pilot, options.signs));
  input.owners = TRY(charter::draft_owners(options.files, options.signs));
  TRY(set_epsilons(options, input.owners));
  input.delta = options.delta.value_or(charter::usual_delta(input.owners));
  for (charter::DraftOwner& owner : input.owners) owner.delta = input.delta;
  report::Drafted drafted{.draft = TRY(draft_of(input)), .has_pilot = input.pilot.has_value()};
  drafted.files = TRY(write_drafts(options, input, drafted.draft));
  return Output{options.out.empty() ? drafted.draft.charter : "", report::to_json(drafted),
                report::to_note(drafted)};
}

}  // namespace

void add_init(Commands root) {
  const auto [app, options] = root.add<InitOptions>(
      "init", "Draft a charter and policies from data files; guesses are marked CONFIRM", run);
  app.add_option("files", options.files, "The owners' CSV files; their rows are only counted")
      ->type_name("FILE");
  app.add_option("--target", options.target, "Column to predict")->required()->type_name("COLUMN");
  app.add_option("--without", options.without, "Columns to leave out: a,b,c")
      ->delimiter(',')
      ->type_name("COLUMN");
  app.add_option(
         "--id", options.id,
         "The files hold different columns of the same records; this column identifies a record")
      ->type_name("COLUMN");
  app.add_option("--pilot", options.pilot, "Public rows, from which kinds and bounds are guessed")
      ->type_name("FILE");
  app.add_option("--out", options.out,
                 "Charter file; policies are written beside it (default: stdout)")
      ->type_name("FILE");
  epsilon_option(app, options.epsilon);
  app.add_option(
         "--delta", options.delta,
         "Delta that owners accept, for Gaussian noise and secure sums (default: 1e-6, less for "
         "large owners); 0: none")
      ->check(CLI::Range(0.0, 1e-3));
  signs_options(app, options.signs);
}

}  // namespace parley::cli
