// What a learner keeps: every answer it took, as its owner signed it, in the order of arrival; and,
// where questions do not follow from the answers alone, notes of what it did. The journal of a
// running job and the transcript of a finished one are the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/wire/message.h"

namespace parley::wire {

struct Entry {
  std::string owner;
  ReceivedAnswer answer;
};

/// A mask that was taken off a sum: its seed, and whether a vector lacked it instead.
struct OpenedMask {
  Secret32 seed{};
  bool missing = false;
  bool operator==(const OpenedMask&) const = default;
};

/// What the learner did after the answers before it. The signed questions of later answers show
/// whether that is true.
struct Note {
  enum class Kind {
    kAsked,    // this owner was asked this round of its own, where the learner then stood
    kClosed,   // enough had answered: the learner went on without the others
    kBegun,    // the secure aggregation of this number; answers after it are its masked vectors
    kSum,      // of all of them: the learner took its step
    kAlarm,    // a person was told that the first answers are unlike the pilot, and decided
    kApproved  // this owner's signature under the charter came
  };
  Kind kind = Kind::kAsked;
  std::string owner{};                  // of kAsked, as is the round
  uint32_t round = 0;                   // of kBegun its number; of kAlarm 1: go on, 0: stop
  size_t answers = 0;                   // in the transcript before it
  std::vector<int64_t> values{};        // of kSum
  std::vector<OpenedMask> masks{};      // likewise: without them the vectors before add up to it
  std::optional<Signature> approval{};  // of kApproved
  bool operator==(const Note&) const = default;
};

Bytes transcript_head(const Hash& charter, const std::string& started);
Bytes transcript_entry(const std::string& owner, const ReceivedAnswer& answer);
Bytes transcript_note(const Note& note);

struct Transcript {
  Hash charter{};
  std::string started{};  // RFC 3339, UTC
  std::vector<Entry> entries{};
  std::vector<Note> notes{};
  uint64_t whole = 0;  // bytes up to the end of the last whole entry

  /// All of it in its order, until one of the two returns an error.
  template <class OnEntry, class OnNote>
  Result<void> in_order(OnEntry on_entry, OnNote on_note) const {
    auto note = notes.begin();
    for (size_t i = 0; i <= entries.size(); ++i) {
      for (; note != notes.end() && note->answers <= i; ++note) TRY(on_note(*note));
      if (i < entries.size()) TRY(on_entry(entries[i]));
    }
    return {};
  }
};

/// A journal may end in the middle of an entry, where its writer was stopped: what follows the last
/// whole entry is not looked at.
Result<Transcript> parse_transcript(ByteView bytes);

/// The beginning of a transcript.
struct TranscriptHead {
  Hash charter{};
  std::string started{};  // RFC 3339, UTC
  size_t size = 0;        // in bytes
};
/// Nothing, if these bytes end before it does.
Result<std::optional<TranscriptHead>> read_head(ByteView bytes);

/// Takes a transcript apart that may be larger than memory, in pieces of any size.
class TranscriptReader {
 public:
  using OnEntry = std::function<Result<void>(Entry)>;
  using OnNote = std::function<Result<void>(Note)>;
  TranscriptReader(OnEntry on_entry, OnNote on_note)
      : on_entry_(std::move(on_entry)), on_note_(std::move(on_note)) {}

  /// Hands on all that is whole.
  Result<void> take(ByteView bytes);
  const std::optional<TranscriptHead>& head() const { return head_; }
  /// Bytes up to the end of the last whole entry, and how many entries there were.
  uint64_t whole() const { return whole_; }
  size_t entries() const { return entries_; }

 private:
  Result<void> take_pieces(size_t& at);

  OnEntry on_entry_;
  OnNote on_note_;
  std::optional<TranscriptHead> head_{};
  Bytes pending_{};  // the beginning of the next piece
  uint64_t whole_ = 0;
  size_t entries_ = 0;
  bool torn_ = false;  // what follows is no piece
};

/// All that `feed` hands to the reader, in memory.
Result<Transcript> collect_transcript(const std::function<Result<void>(TranscriptReader&)>& feed);

}  // namespace parley::wire
