// parley init FILE... --target COLUMN
#include "commands.h"
#include "parley/base/files.h"
#include "parley/report/data/draft.h"

namespace parley::cli {
namespace {

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

}  // namespace

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

}  // namespace parley::cli
