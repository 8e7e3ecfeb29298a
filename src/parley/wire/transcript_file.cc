#include "parley/wire/transcript_file.h"

#include <zstd.h>

#include <memory>
#include <new>
#include <string_view>

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

/// Packs what it is given into a file, which is there when `finish` succeeds.
class PackedFile {
 public:
  static Result<PackedFile> create(const std::filesystem::path& path) {
    return PackedFile(path, TRY(NewFile::create(path)));
  }
  Result<void> write(ByteView bytes) { return pack(bytes, ZSTD_e_continue); }
  /// The SHA-256 of the file.
  Result<Hash> finish() {
    TRY(pack({}, ZSTD_e_end));
    TRY(file_.finish());
    return hash_file(path_);
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  PackedFile(std::filesystem::path path, NewFile file)
      : path_(std::move(path)), file_(std::move(file)), context_(ZSTD_createCCtx()) {
    constexpr int kLevel = 9;
    if (!context_) throw std::bad_alloc();
    check(!ZSTD_isError(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel)));
  }
  Result<void> pack(ByteView bytes, ZSTD_EndDirective how) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{room_.data(), room_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, how);
      if (ZSTD_isError(left))  // For want of memory; nothing else can go wrong here.
        return Error{Code::kFailed,
                     std::string("cannot pack the transcript: ") + ZSTD_getErrorName(left),
                     "Start again with more memory: the journal has all answers.",
                     {.file = path_.string()}};
      TRY(file_.write({room_.data(), out.pos}));
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }

  std::filesystem::path path_;
  NewFile file_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::string room_ = std::string(ZSTD_CStreamOutSize(), '\0');
};

}  // namespace

Result<uint64_t> feed_transcript(const std::filesystem::path& file, TranscriptReader& reader) {
  uint64_t bytes = 0;
  Result<void> taken;
  TRY(data::read_unpacked(file, kTranscriptBytesMax, [&](ByteView piece) {
    bytes += piece.size();
    taken = reader.take(piece);
    return bool(taken);
  }));
  TRY(taken);
  return bytes;
}

Result<Transcript> read_transcript(const std::filesystem::path& file, bool torn) {
  uint64_t bytes = 0;
  auto transcript = collect_transcript([&](TranscriptReader& reader) -> Result<void> {
    bytes = TRY(feed_transcript(file, reader));
    return {};
  });
  if (!transcript && !std::filesystem::exists(file)) return transcript.error();
  if (!transcript) {
    Error error = broken(file, transcript.error().what);
    // What a newer version wrote is whole.
    if (transcript.error().hint.starts_with("Use the version"))
      error.hint = transcript.error().hint;
    return error;
  }
  if (!torn && transcript->whole != bytes)
    return broken(
        file, "is cut off after " + std::to_string(transcript->entries.size()) + " whole answers");
  return transcript;
}

Result<Hash> write_transcript(const std::filesystem::path& file, const Transcript& transcript) {
  PackedFile packed = TRY(PackedFile::create(file));
  TRY(packed.write(transcript_head(transcript.charter, transcript.started)));
  TRY(transcript.in_order(
      [&](const Entry& entry) { return packed.write(transcript_entry(entry.owner, entry.answer)); },
      [&](const Note& note) { return packed.write(transcript_note(note)); }));
  return packed.finish();
}

Result<Hash> pack_transcript(const std::filesystem::path& plain,
                             const std::filesystem::path& file) {
  PackedFile packed = TRY(PackedFile::create(file));
  Result<void> written;
  TRY(read_pieces(plain, [&](ByteView piece) { return bool(written = packed.write(piece)); }));
  TRY(written);
  return packed.finish();
}

}  // namespace parley::wire
