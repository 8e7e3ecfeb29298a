// parley ledger show|verify|export LEDGER
#include "parley/report/ledger.h"

#include "commands.h"
#include "parley/ledger/read.h"

namespace parley::cli {

Result<Output> run(const LedgerOptions& options, ProgressStyle) {
  using Action = LedgerOptions::Action;
  if (options.action == Action::kVerify) {
    const auto verified = TRY(ledger::verify(options.ledger));
    return Output{.text = report::to_text(verified),
                  .json = report::to_json(verified),
                  .exit = verified.missing == 0 ? 0 : exit_status(Code::kIntegrity)};
  }
  if (options.action == Action::kExport) {
    const auto exported = TRY(ledger::export_events(options.ledger, options.dataset));
    return Output{report::to_json(exported), report::to_json(exported)};
  }
  const auto contents = TRY(ledger::read(options.ledger));
  return Output{report::to_text(contents), report::to_json(contents)};
}

}  // namespace parley::cli
