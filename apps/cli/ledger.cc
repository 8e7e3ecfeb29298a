// parley ledger show|verify
#include "parley/report/ledger.h"

#include "commands.h"
#include "parley/ledger/read.h"

namespace parley::cli {

Result<Output> run(const LedgerOptions& options, ProgressStyle) {
  if (options.action == LedgerOptions::Action::kVerify) {
    const auto verified = TRY(ledger::verify(options.ledger));
    return Output{report::to_text(verified), report::to_json(verified)};
  }
  const auto contents = TRY(ledger::read(options.ledger));
  return Output{report::to_text(contents), report::to_json(contents)};
}

}  // namespace parley::cli
