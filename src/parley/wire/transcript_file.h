// A transcript or journal as a file, packed with zstd or plain.
#pragma once

#include <filesystem>

#include "parley/wire/transcript.h"

namespace parley::wire {

/// No journal becomes as long; what unpacks to more is an attack.
inline constexpr uint64_t kTranscriptBytesMax = uint64_t{1} << 40;

/// What cannot be read was damaged on the way (kIntegrity). `whole` in the result says where the
/// last entry ended; one that is not the end of the file is an error unless `torn` is allowed, as
/// for the journal of a learner that was stopped.
Result<Transcript> read_transcript(const std::filesystem::path& file, bool torn = false);

/// Hands all of a file to the reader, which need not keep it; returns how many bytes there were.
Result<uint64_t> feed_transcript(const std::filesystem::path& file, TranscriptReader& reader);

/// Packed; returns the SHA-256 of the file.
Result<Hash> write_transcript(const std::filesystem::path& file, const Transcript& transcript);
/// The same of a file that is a transcript, of any size.
Result<Hash> pack_transcript(const std::filesystem::path& plain, const std::filesystem::path& file);

}  // namespace parley::wire
