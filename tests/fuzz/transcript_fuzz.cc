// No bytes crash whoever reads a transcript or goes on from a journal; what is read comes back from
// its own writer, and in pieces it is the same.
#include "parley/wire/transcript.h"
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const auto transcript = wire::parse_transcript({data, size});
  const auto in_pieces = wire::collect_transcript([&](wire::TranscriptReader& reader) {
    Result<void> taken;
    for (size_t at = 0; at < size && taken; at += 7)
      taken = reader.take(ByteView(data, size).subspan(at, std::min<size_t>(7, size - at)));
    return taken;
  });
  check(bool(in_pieces) == bool(transcript));
  if (!transcript) return check(!transcript.error().what.empty()), 0;
  check(in_pieces->whole == transcript->whole && in_pieces->notes == transcript->notes &&
        in_pieces->entries.size() == transcript->entries.size());
  check(transcript->whole <= size);
  Bytes again = wire::transcript_head(transcript->charter, transcript->started);
  static const plan::SyncPlan plan = test::unsigned_plan();
  protocol::SyncLearner learner(plan);
  const auto go_on = [&](const Bytes& bytes, const Result<void>& taken) -> Result<void> {
    again.insert(again.end(), bytes.begin(), bytes.end());
    if (!taken) check(!taken.error().what.empty());
    test::check_model(learner);
    return {};
  };
  check(bool(transcript->in_order(
      [&](const wire::Entry& entry) {
        return go_on(wire::transcript_entry(entry.owner, entry.answer),
                     learner.replay(entry.owner, entry.answer));
      },
      [&](const wire::Note& note) {
        return go_on(wire::transcript_note(note), learner.replay(note));
      })));
  const auto read = wire::parse_transcript(again);
  check(read && read->entries.size() == transcript->entries.size() &&
        read->notes == transcript->notes && read->whole == again.size());
  return 0;
}
