// parley learner run|resume CHARTER
#include <optional>
#include <utility>

#include "commands.h"
#include "interrupt.h"
#include "parley/api/daemons.h"

namespace parley::cli {

Result<Output> run(const LearnerOptions& options, ProgressStyle style) {
  const Charter charter = TRY(Charter::read(options.charter));
  heed_interrupts();
  std::optional<Progress> progress;
  uint64_t shown = 0;
  const parley::LearnerOptions how{.identity = options.identity,
                                   .listen = options.listen,
                                   .out = options.out.value_or(""),
                                   .receipts = options.receipts.value_or(""),
                                   .resume = options.resume,
                                   .as = options.as,
                                   .wait = std::chrono::seconds(options.wait),
                                   .progress =
                                       [&](uint64_t round, uint64_t total) {
                                         if (!progress) progress.emplace(style, "rounds", total);
                                         progress->advance(round - std::exchange(shown, round));
                                       },
                                   .log = log_line};
  const auto result = TRY(api::run_learner(charter, how, interrupted));
  if (progress) progress->finish();
  return Output{result.to_text(), result.to_json()};
}

}  // namespace parley::cli
