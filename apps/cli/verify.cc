// parley verify MODEL TRANSCRIPT CHARTER
#include "parley/report/verify.h"

#include <algorithm>
#include <array>

#include "commands.h"
#include "parley/base/files.h"
#include "parley/plan/learner/jobs.h"
#include "parley/protocol/make_learner.h"
#include "parley/wire/transcript_file.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;

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

/// What the learner has added at the end, where it publishes its tuned model.
std::optional<wire::Entry> take_release(const charter::Charter& agreed,
                                        wire::Transcript& transcript) {
  if (!agreed.protocol.publish || transcript.entries.empty() ||
      transcript.entries.back().owner != agreed.learner.name)
    return std::nullopt;
  wire::Entry release = std::move(transcript.entries.back());
  transcript.entries.pop_back();
  return release;
}

/// Where owners keep the parts of the model.
Result<std::optional<learn::Manifest>> manifest_of(const charter::Charter& charter,
                                                   const fs::path& file) {
  if (!protocol::has_dealer(charter)) return std::optional<learn::Manifest>();
  const std::string text = TRY(read_file(file));
  return std::optional(TRY(learn::manifest_from_json(text, file.string())));
}

}  // namespace

Result<Output> run(const VerifyOptions& options, ProgressStyle) {
  charter::Charter agreed = TRY(charter::read_charter(options.charter));
  const fs::path folders[] = {agreed.folder};
  TRY(charter::load_bundle(agreed, folders));
  const charter::Charter charter = TRY(plan::learners_job(agreed, options.as));
  const auto pilot = TRY(charter::load_pilot(charter, folders));
  const auto manifest = TRY(manifest_of(charter, options.model));
  const learn::Model model = manifest ? learn::Model{} : TRY(learn::read_model(options.model));
  wire::Transcript transcript = TRY(wire::read_transcript(options.transcript));
  const auto release = take_release(agreed, transcript);
  const auto file = TRY(packed_hash(options.transcript));
  const auto ledgers = TRY(read_ledgers(options.ledgers, agreed));
  protocol::Evidence evidence{charter, pilot.get(), model, transcript, file, ledgers};
  if (release) evidence.published.emplace(agreed, *release);
  if (manifest) evidence.manifest = &*manifest;
  const auto result = TRY(protocol::verify(evidence));
  return Output{.text = report::to_text(result),
                .json = report::to_json(result),
                .exit = result.holds() ? 0 : exit_status(Code::kIntegrity)};
}

}  // namespace parley::cli
