// parley verify MODEL TRANSCRIPT CHARTER
#include "parley/verify.h"

#include "commands.h"

namespace parley::cli {

Result<Output> run(const VerifyOptions& options, ProgressStyle) {
  const Charter charter = TRY(Charter::read(options.charter));
  parley::VerifyOptions how{.ledgers = {}, .as = options.as};
  for (const std::string& text : options.ledgers) {
    const Pair pair = TRY(split_pair(text, "--ledger"));
    how.ledgers[pair.key] = pair.value;
  }
  const auto result = TRY(verify(options.model, options.transcript, charter, how));
  return Output{.text = result.to_text(),
                .json = result.to_json(),
                .exit = result.holds() ? 0 : exit_status(Code::kIntegrity)};
}

}  // namespace parley::cli
