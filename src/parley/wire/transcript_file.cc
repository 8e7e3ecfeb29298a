#include "parley/wire/transcript_file.h"

#include <zstd.h>

#include "parley/base/files.h"
#include "parley/data/readers/unpack.h"

namespace parley::wire {
namespace {

Error broken(const std::filesystem::path& file, const std::string& what) {
  return {Code::kIntegrity,
          what,
          "Ask for the transcript again: the model names its SHA-256.",
          {.file = file.string()}};
}

}  // namespace

Result<Transcript> read_transcript(const std::filesystem::path& file, bool torn) {
  Bytes bytes;
  const auto read = data::read_unpacked(file, kTranscriptBytesMax, [&](ByteView piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return bytes.size() <= kTranscriptBytesMax;
  });
  if (!read) return std::filesystem::exists(file) ? broken(file, read.error().what) : read.error();
  auto transcript = parse_transcript(bytes);
  if (!transcript) return broken(file, transcript.error().what);
  if (!torn && transcript->whole != bytes.size())
    return broken(
        file, "is cut off after " + std::to_string(transcript->entries.size()) + " whole answers");
  return transcript;
}

Result<Hash> write_transcript(const std::filesystem::path& file, const Transcript& transcript) {
  Bytes bytes = transcript_head(transcript.charter, transcript.started);
  const auto add = [&](const Bytes& piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return Result<void>();
  };
  TRY(transcript.in_order(
      [&](const Entry& entry) { return add(transcript_entry(entry.owner, entry.answer)); },
      [&](const Note& note) { return add(transcript_note(note)); }));
  return write_packed(file, bytes);
}

Result<Hash> write_packed(const std::filesystem::path& file, ByteView transcript) {
  std::string packed(ZSTD_compressBound(transcript.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), transcript.data(), transcript.size(), 9);
  check(!ZSTD_isError(size));
  packed.resize(size);
  TRY(write_file(file, packed));
  return sha256(as_bytes(packed));
}

}  // namespace parley::wire
