// parley verify MODEL TRANSCRIPT CHARTER
#include "parley/report/verify.h"

#include <algorithm>
#include <array>

#include "commands.h"
#include "parley/base/files.h"
#include "parley/base/unpack.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;

/// As long as a journal may become.
constexpr uint64_t kTranscriptBytesMax = uint64_t{4} << 30;

Error broken(const fs::path& file, const std::string& what) {
  return {Code::kIntegrity,
          what,
          "Ask for the transcript again: the model names its SHA-256.",
          {.file = file.string()}};
}

/// Plain or packed. Whatever cannot be read to its end was damaged on the way.
Result<wire::Transcript> read_transcript(const fs::path& file) {
  Bytes bytes;
  const auto read = read_unpacked(file, kTranscriptBytesMax, [&](ByteView piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return bytes.size() <= kTranscriptBytesMax;
  });
  if (!read) return fs::exists(file) ? broken(file, read.error().what) : read.error();
  auto transcript = wire::parse_transcript(bytes);
  if (!transcript) return broken(file, transcript.error().what);
  if (transcript->whole != bytes.size())
    return broken(
        file, "is cut off after " + std::to_string(transcript->entries.size()) + " whole answers");
  return transcript;
}

/// The model names the hash of the packed file.
Result<std::optional<Hash>> packed_hash(const fs::path& file) {
  constexpr std::array<uint8_t, 4> kZstd = {0x28, 0xb5, 0x2f, 0xfd};
  bool packed = false;
  TRY(read_pieces(file, [&](ByteView piece) {
    packed = piece.size() >= kZstd.size() && std::equal(kZstd.begin(), kZstd.end(), piece.begin());
    return false;
  }));
  if (!packed) return std::optional<Hash>();
  return std::optional(TRY(hash_file(file)));
}

Result<std::vector<ledger::Contents>> read_ledgers(const std::vector<std::string>& pairs,
                                                   const charter::Charter& charter) {
  std::vector<ledger::Contents> ledgers;
  for (const std::string& text : pairs) {
    const Pair pair = TRY(split_pair(text, "--ledger"));
    const auto wrong = [&](const std::string& what) {
      return Error{Code::kInvalid, what, "Give --ledger OWNER=FILE.", {.file = pair.value}};
    };
    if (std::none_of(charter.owners.begin(), charter.owners.end(),
                     [&](const charter::Owner& owner) { return owner.name == pair.key; }))
      return wrong(pair.key + " is not an owner of the charter");
    ledgers.push_back(TRY(ledger::read(pair.value)));
    if (ledgers.back().owner != pair.key)
      return wrong("is the ledger of " + ledgers.back().owner + ", not of " + pair.key);
  }
  return ledgers;
}

}  // namespace

Result<Output> run(const VerifyOptions& options, ProgressStyle) {
  charter::Charter charter = TRY(charter::read_charter(options.charter));
  const fs::path folders[] = {charter.folder};
  TRY(charter::load_bundle(charter, folders));
  const auto pilot = TRY(charter::load_pilot(charter, folders));
  const learn::Model model = TRY(learn::read_model(options.model));
  const wire::Transcript transcript = TRY(read_transcript(options.transcript));
  const auto file = TRY(packed_hash(options.transcript));
  const auto ledgers = TRY(read_ledgers(options.ledgers, charter));
  const auto result =
      TRY(protocol::verify({charter, pilot.get(), model, transcript, file, ledgers}));
  return Output{.text = report::to_text(result),
                .json = report::to_json(result),
                .exit = result.holds() ? 0 : exit_status(Code::kIntegrity)};
}

}  // namespace parley::cli
