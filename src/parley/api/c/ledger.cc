// Commands that look into a ledger, or make one.
#include "parley/ledger.h"

#include <nlohmann/json.hpp>

#include "parley/api/c/commands.h"
#include "parley/api/fit/private_job.h"

namespace parley::api {
namespace {

using Json = nlohmann::ordered_json;

Result<std::filesystem::path> file_of(Call& call) {
  std::filesystem::path file;
  TRY(call.take("file", file));
  if (file.empty()) return call.arguments().error("file", "is missing");
  return file;
}

Result<Json> shown(const std::filesystem::path& file) {
  const Ledger ledger = TRY(Ledger::read(file));
  return answer(ledger.to_json(), ledger.to_text());
}

}  // namespace

Result<Json> ledger_show(Call& call) {
  TRY(call.only({"file"}));
  return shown(TRY(file_of(call)));
}

Result<Json> ledger_verify(Call& call) {
  TRY(call.only({"file"}));
  const VerifiedLedger found = TRY(verify_ledger(TRY(file_of(call))));
  return answer(found.to_json(), found.to_text());
}

Result<Json> ledger_export(Call& call) {
  TRY(call.only({"file", "dataset"}));
  std::string dataset;
  TRY(call.take("dataset", dataset));
  const std::string exported = TRY(export_ledger(TRY(file_of(call)), dataset));
  return answer(exported, exported);
}

/// Makes the file, or declares one more data set in it.
Result<Json> ledger_create(Call& call) {
  TRY(call.only({"file", "owner", "dataset", "epsilon", "delta", "pure"}));
  const auto file = TRY(file_of(call));
  NewDataset declared;
  TRY(call.take("owner", declared.owner));
  TRY(call.take("dataset", declared.dataset));
  TRY(call.take("epsilon", declared.epsilon));
  TRY(call.take("delta", declared.delta));
  declared.pure = privacy::Budget::pure_unless_said(declared.epsilon, declared.delta);
  TRY(call.take("pure", declared.pure));
  TRY(declare_dataset(file, declared));
  return shown(file);
}

}  // namespace parley::api
