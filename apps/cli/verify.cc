// parley verify MODEL TRANSCRIPT CHARTER
#include "parley/verify.h"

#include <CLI/CLI.hpp>

#include "command.h"

namespace parley::cli {
namespace {

struct VerifyOptions {
  std::filesystem::path model{}, transcript{}, charter{};
  std::string as{};                    // whose copy, where every owner learns
  std::vector<std::string> ledgers{};  // OWNER=FILE
};

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

}  // namespace

void add_verify(Commands root) {
  const auto [app, options] = root.add<VerifyOptions>(
      "verify", "Recompute a model from the answers that owners signed", run);
  app.add_option("model", options.model, "Model file")->required()->type_name("FILE");
  app.add_option("transcript", options.transcript, "The learner's transcript, packed or plain")
      ->required()
      ->type_name("FILE");
  app.add_option("charter", options.charter, "Charter file, with its pilot beside it")
      ->required()
      ->type_name("FILE");
  as_option(app, options.as);
  repeated(
      app.add_option("--ledger", options.ledgers, "An owner's ledger, to compare receipts with"),
      "OWNER=FILE");
}

}  // namespace parley::cli
