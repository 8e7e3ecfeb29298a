// No bytes crash whoever reads a transcript or goes on from a journal; what is read comes back from
// its own writer.
#include "parley/wire/transcript.h"
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const auto transcript = wire::parse_transcript({data, size});
  if (!transcript) return check(!transcript.error().what.empty()), 0;
  check(transcript->whole <= size);
  Bytes again = wire::transcript_head(transcript->charter, transcript->started);
  static const protocol::SyncPlan plan = test::unsigned_plan();
  protocol::SyncLearner learner(plan);
  for (const wire::Entry& entry : transcript->entries) {
    const Bytes bytes = wire::transcript_entry(entry.owner, entry.answer);
    again.insert(again.end(), bytes.begin(), bytes.end());
    if (const auto taken = learner.replay(entry.owner, entry.answer); !taken)
      check(!taken.error().what.empty());
    test::check_model(learner);
  }
  const auto read = wire::parse_transcript(again);
  check(read && read->entries.size() == transcript->entries.size() && read->whole == again.size());
  return 0;
}
