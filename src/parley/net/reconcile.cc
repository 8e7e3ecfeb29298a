#include "parley/net/reconcile.h"

#include <utility>

#include "parley/base/crypto/signature.h"
#include "parley/ledger/events.h"
#include "parley/net/identity/identity.h"
#include "parley/net/owner.h"
#include "parley/plan/learner/jobs.h"
#include "parley/wire/transcript_file.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;
using charter::Policy;

Result<SignKey> public_key(const Policy& policy) {
  if (!policy.identity || policy.identity->sign_key.empty())
    return Error{Code::kInvalid,
                 "the policy names no key, so nobody can tell which receipts are genuine",
                 "Add sign_key to [identity]: the .sign file that `parley join` made.",
                 {.key = "identity.sign_key"}};
  const auto key = TRY(SigningKey::from_pem(TRY(read_secret(policy.identity->sign_key))));
  return key.public_key();
}

/// All of this owner's answers, in the order in which they left.
Result<std::vector<ledger::Returned>> genuine(const wire::Transcript& transcript,
                                              const std::string& owner, const SignKey& key,
                                              const fs::path& file) {
  std::vector<ledger::Returned> returned;
  for (const wire::Entry& entry : transcript.entries) {
    if (entry.owner != owner) continue;
    const Bytes bytes = wire::signed_bytes(transcript.charter, owner, entry.answer.receipt);
    if (!entry.answer.signature || !is_signed(key, bytes, *entry.answer.signature))
      return Error{Code::kIntegrity,
                   "holds a receipt of round " + std::to_string(entry.answer.round) +
                       " that the key of " + owner + " did not sign",
                   "It was changed, or belongs to an older key: name that one in the policy and "
                   "try again. Nothing was booked.",
                   {.file = file.string()}};
    returned.push_back({entry.answer.receipt, entry.answer.values});
  }
  if (!returned.empty()) return returned;
  return Error{Code::kInvalid,
               "holds no answer of " + owner,
               "Give the transcript.pb.zst or journal.pb of a learner that this owner answered.",
               {.file = file.string()}};
}

/// The charter of this hash, if it lies in the policy's folder.
std::optional<charter::Charter> charter_with(const Policy& policy, const Hash& hash) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(policy.folder / policy.charters, failed)) {
    if (!entry.path().string().ends_with(".charter.toml")) continue;
    const auto charter = charter::read_charter(entry.path());
    if (charter && charter->hash == hash) return *charter;
  }
  return std::nullopt;
}

Result<const charter::Dataset*> dataset_named(const Policy& policy, const std::string& name) {
  for (const charter::Dataset& each : policy.datasets)
    if (each.name == name) return &each;
  return Error{Code::kInvalid, "the policy has no data set '" + name + "'",
               "Name one of its [[dataset]] blocks."};
}

/// Which data set pays, by the policy; as declared in the ledger if it is new there.
Result<ledger::DatasetId> dataset_for(const Policy& policy, ledger::Ledger& ledger,
                                      const Hash& hash, const std::string& named) {
  if (const auto charged = ledger.dataset_of(hash)) return *charged;
  const auto charter = charter_with(policy, hash);
  std::string name = named;
  if (name.empty() && policy.datasets.size() == 1) name = policy.datasets[0].name;
  if (name.empty() && charter) name = TRY(policy.dataset_for(*charter))->name;
  if (name.empty())
    return Error{Code::kInvalid,
                 "which data set charter " + to_hex(hash).substr(0, 12) +
                     " was answered from cannot be told",
                 "Give --dataset NAME, or put the charter into the policy's charters folder."};
  const charter::Dataset* data = TRY(dataset_named(policy, name));
  return ledger.declare(data->name, data->budget, charter ? charter->privacy.unit : "");
}

}  // namespace

Result<Reconciled> reconcile(const Policy& policy, ledger::Ledger& ledger,
                             std::span<const fs::path> files, const std::string& dataset) {
  const SignKey key = TRY(public_key(policy));
  Reconciled result;
  for (const fs::path& file : files) {
    const auto transcript = TRY(wire::read_transcript(file, true));
    const auto returned = TRY(genuine(transcript, policy.owner, key, file));
    const auto id = TRY(dataset_for(policy, ledger, transcript.charter, dataset));
    auto booked = ledger.restore(id, transcript.charter, returned);
    if (!booked) {
      Error error = booked.error();
      error.where.file = file.string();
      return error;
    }
    result.jobs.push_back({file, transcript.charter, ledger.name(id), *booked});
  }
  TRY(ledger.is_reconciled());
  result.missing = ledger.missing();
  result.head = ledger.head();
  return result;
}

Result<std::string> accept_source(const Policy& policy, ledger::Ledger& ledger,
                                  const std::string& dataset, const std::string& by,
                                  const std::string& reason) {
  const charter::Dataset& data = *TRY(dataset_named(policy, dataset));
  const ledger::DataSource source = TRY(data_source(policy, data));
  TRY(ledger.accept_source(data.name, data.budget, source, by, reason));
  return source.is;
}

Result<std::vector<Raised>> raise_budgets(const Policy& policy, ledger::Ledger& ledger) {
  std::vector<Raised> raised;
  for (const charter::Dataset& data : policy.datasets) {
    const auto id = ledger.find(data.name);
    if (!id || ledger.budget(*id) == data.budget) continue;
    const privacy::Budget before = ledger.budget(*id);
    TRY(ledger.raise(data.name, data.budget));
    raised.push_back({data.name, before, data.budget});
  }
  return raised;
}

}  // namespace parley::net
