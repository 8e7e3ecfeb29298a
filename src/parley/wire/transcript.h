// What a learner keeps: every answer it took, as its owner signed it, in the order of arrival. The
// journal of a running job and the transcript of a finished one are the same bytes.
#pragma once

#include <string>
#include <vector>

#include "parley/wire/message.h"

namespace parley::wire {

struct Entry {
  std::string owner;
  ReceivedAnswer answer;
};

Bytes transcript_head(const Hash& charter, const std::string& started);
Bytes transcript_entry(const std::string& owner, const ReceivedAnswer& answer);

struct Transcript {
  Hash charter{};
  std::string started{};  // RFC 3339, UTC
  std::vector<Entry> entries{};
  size_t whole = 0;  // bytes up to the end of the last whole entry
};

/// A journal may end in the middle of an entry, where its writer was stopped: what follows the last
/// whole entry is not looked at.
Result<Transcript> parse_transcript(ByteView bytes);

}  // namespace parley::wire
