// parley ledger show|verify|export LEDGER
#include "parley/ledger.h"

#include "commands.h"

namespace parley::cli {

Result<Output> run(const LedgerOptions& options, ProgressStyle) {
  using Action = LedgerOptions::Action;
  if (options.action == Action::kVerify) {
    const VerifiedLedger verified = TRY(verify_ledger(options.ledger));
    return Output{.text = verified.to_text(),
                  .json = verified.to_json(),
                  .exit = verified.missing == 0 ? 0 : exit_status(Code::kIntegrity)};
  }
  if (options.action == Action::kExport) {
    const std::string exported = TRY(export_ledger(options.ledger, options.dataset));
    return Output{exported, exported};
  }
  const Ledger ledger = TRY(Ledger::read(options.ledger));
  return Output{ledger.to_text(), ledger.to_json()};
}

}  // namespace parley::cli
