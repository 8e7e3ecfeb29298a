// parley charter hash|check|explain
#include "parley/charter.h"

#include "commands.h"
#include "overrides.h"

namespace parley::cli {

Result<Output> run(const CharterOptions& options, ProgressStyle) {
  const Charter charter = TRY(Charter::read(options.charter, TRY(overrides(options.set))));
  Output output{.text = {}, .json = charter.to_json()};
  switch (options.action) {
    case CharterOptions::Action::kHash:
      output.text = to_hex(charter.hash()) + "\n";
      break;
    case CharterOptions::Action::kCheck:
      output.text =
          charter.name() + ": valid, " + (charter.complete() ? "complete" : "a draft; undecided:");
      for (const std::string& key : charter.undecided()) output.text += " " + key;
      output.text += "\n" + to_hex(charter.hash()) + "\n";
      break;
    case CharterOptions::Action::kExplain:
      output.text = charter.explain();
      break;
  }
  return output;
}

}  // namespace parley::cli
