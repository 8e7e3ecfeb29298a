// Whatever a journal's file holds: a learner goes on from it, or says why not and leaves it as it
// is; and what is written after that is there when it goes on again.
#include <unistd.h>

#include "parley/base/files.h"
#include "parley/net/journal/journal.h"
#include "support/letters.h"

namespace {

using namespace parley;

/// How many entries there are, and what the learner makes of them.
Result<size_t> replay(net::Journal& journal, protocol::SyncLearner& learner) {
  size_t entries = 0;
  TRY(journal.replay(
      [&](const wire::Entry& entry) {
        ++entries;
        static_cast<void>(bool(learner.replay(entry.owner, entry.answer)));
        test::check_model(learner);
        return Result<void>();
      },
      [&](const wire::Note& note) {
        static_cast<void>(bool(learner.replay(note)));
        return Result<void>();
      }));
  return entries;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const plan::SyncPlan plan = test::unsigned_plan();
  static const auto file =
      std::filesystem::temp_directory_path() / ("journal_fuzz." + std::to_string(::getpid()));
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bool(write_file(file, bytes)));
  protocol::SyncLearner learner(plan), again(plan);
  size_t entries = 0;
  {
    auto journal = net::Journal::open(file, plan.charter, "now");
    if (!journal) return check(*read_file(file) == bytes), 0;
    const auto replayed = replay(*journal, learner);
    if (!replayed) return check(!replayed.error().what.empty() && *read_file(file) == bytes), 0;
    entries = *replayed;
    journal->append("one", wire::ReceivedAnswer{.round = 1, .values = {1, 2}, .receipt = {}});
    check(bool(journal->flush()));
  }
  auto journal = net::Journal::open(file, plan.charter, "later");
  check(bool(journal));
  check(*replay(*journal, again) == entries + 1);
  return 0;
}
