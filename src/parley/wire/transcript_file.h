// A transcript or journal as a file, packed with zstd or plain.
#pragma once

#include <filesystem>

#include "parley/wire/transcript.h"

namespace parley::wire {

/// As long as a journal may become.
inline constexpr uint64_t kTranscriptBytesMax = uint64_t{4} << 30;

/// What cannot be read was damaged on the way (kIntegrity). `whole` in the result says where the
/// last entry ended; one that is not the end of the file is an error unless `torn` is allowed, as
/// for the journal of a learner that was stopped.
Result<Transcript> read_transcript(const std::filesystem::path& file, bool torn = false);

/// Packed; returns the SHA-256 of the file.
Result<Hash> write_transcript(const std::filesystem::path& file, const Transcript& transcript);
/// The same for bytes that are a transcript.
Result<Hash> write_packed(const std::filesystem::path& file, ByteView transcript);

}  // namespace parley::wire
