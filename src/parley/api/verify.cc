#include "parley/verify.h"

#include <algorithm>
#include <array>

#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/plan/learner/jobs.h"
#include "parley/protocol/verify/verify.h"
#include "parley/report/verify.h"
#include "parley/wire/transcript_file.h"

namespace parley {
namespace {

/// The model names the hash of the packed file.
Result<std::optional<Hash>> packed_hash(const std::filesystem::path& file) {
  constexpr std::array<uint8_t, 4> kZstd = {0x28, 0xb5, 0x2f, 0xfd};
  bool packed = false;
  TRY(read_pieces(file, [&](ByteView piece) {
    packed = piece.size() >= kZstd.size() && std::equal(kZstd.begin(), kZstd.end(), piece.begin());
    return false;
  }));
  if (!packed) return std::optional<Hash>();
  return std::optional(TRY(hash_file(file)));
}

Result<std::vector<ledger::Contents>> read_ledgers(const VerifyOptions& options,
                                                   const charter::Charter& charter) {
  std::vector<ledger::Contents> ledgers;
  for (const auto& [name, file] : options.ledgers) {
    const auto wrong = [&](const std::string& what) {
      return Error{Code::kInvalid, what, "Give --ledger OWNER=FILE.", {.file = file.string()}};
    };
    if (std::none_of(charter.owners.begin(), charter.owners.end(),
                     [&](const charter::Owner& owner) { return owner.name == name; }))
      return wrong(name + " is not an owner of the charter");
    ledgers.push_back(TRY(ledger::read(file)));
    if (ledgers.back().owner != name)
      return wrong("is the ledger of " + ledgers.back().owner + ", not of " + name);
  }
  return ledgers;
}

/// What the learner has added at the end, where it publishes its tuned model.
std::optional<wire::Entry> take_release(const charter::Charter& agreed,
                                        wire::Transcript& transcript) {
  if (!agreed.protocol.learners.publish || transcript.entries.empty() ||
      transcript.entries.back().owner != agreed.learner.name)
    return std::nullopt;
  wire::Entry release = std::move(transcript.entries.back());
  transcript.entries.pop_back();
  return release;
}

/// Where owners keep the parts of the model.
Result<std::optional<learn::Manifest>> manifest_of(const charter::Charter& charter,
                                                   const std::filesystem::path& file) {
  if (!charter.columns_apart()) return std::optional<learn::Manifest>();
  const std::string text = TRY(read_file(file));
  return std::optional(TRY(learn::manifest_from_json(text, file.string())));
}

}  // namespace

Result<VerifyResult> verify(const std::filesystem::path& model_file,
                            const std::filesystem::path& transcript_file, const Charter& handle,
                            const VerifyOptions& options) {
  charter::Charter agreed = handle.internal().charter;
  const std::filesystem::path folders[] = {agreed.folder};
  TRY(charter::load_bundle(agreed, folders));
  const charter::Charter charter = TRY(plan::learners_job(agreed, options.as));
  const auto pilot = TRY(charter::load_pilot(charter, folders));
  const auto manifest = TRY(manifest_of(charter, model_file));
  const learn::Model model = manifest ? learn::Model{} : TRY(learn::read_model(model_file));
  wire::Transcript transcript = TRY(wire::read_transcript(transcript_file));
  const auto release = take_release(agreed, transcript);
  const auto hash = TRY(packed_hash(transcript_file));
  const auto ledgers = TRY(read_ledgers(options, agreed));
  protocol::Evidence evidence{charter, pilot.get(), model, transcript, hash, ledgers};
  if (release) evidence.published.emplace(agreed, *release);
  if (manifest) evidence.manifest = &*manifest;
  return protocol::verify(evidence);
}

std::string VerifyResult::to_text() const { return report::to_text(*this); }
std::string VerifyResult::to_json() const { return report::to_json(*this); }

}  // namespace parley
