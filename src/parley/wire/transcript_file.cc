#include "parley/wire/transcript_file.h"

#include "parley/base/unpack.h"

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
  const auto read = read_unpacked(file, kTranscriptBytesMax, [&](ByteView piece) {
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

}  // namespace parley::wire
