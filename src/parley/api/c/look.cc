// Commands that look at public numbers and files: charters, accountants, attacks, proofs.
#include <nlohmann/json.hpp>

#include "parley/account.h"
#include "parley/api/c/commands.h"
#include "parley/api/check_trains.h"
#include "parley/api/internal.h"
#include "parley/audit.h"
#include "parley/report/charter.h"
#include "parley/verify.h"

namespace parley::api {
namespace {

using Json = nlohmann::ordered_json;

/// Of a file in dp_accounting's form, or of one kind by its noise.
Result<Events> events_of(Call& call) {
  if (call.has("events")) {
    std::string text, dataset;
    TRY(call.take("dataset", dataset));
    TRY(call.take("events", text));
    return events_from_json(text, "events", dataset);
  }
  double gaussian = 0, laplace = 0, sampling = 0;
  uint64_t count = 1;
  TRY(call.take("gaussian", gaussian));
  TRY(call.take("laplace", laplace));
  TRY(call.take("sampling_probability", sampling));
  TRY(call.take("count", count));
  if (gaussian > 0 && sampling > 0)
    return Events{{SampledGaussianEvent{sampling, gaussian}, count}};
  if (gaussian > 0) return Events{{GaussianEvent{gaussian}, count}};
  if (laplace > 0) return Events{{LaplaceEvent{laplace}, count}};
  return Error{Code::kInvalid, "there are no events",
               "Give events, or gaussian or laplace with a noise multiplier above 0."};
}

Result<Adjacency> adjacency_of(Call& call) {
  std::string word = "replace_one";
  TRY(call.take("adjacency", word));
  if (word == "replace_one") return Adjacency::kReplaceOne;
  if (word == "add_remove") return Adjacency::kAddRemove;
  return call.arguments().error("adjacency", "must be replace_one or add_remove");
}

Result<AuditOptions> audit_options(Call& call) {
  AuditOptions options{.progress = call.heard(), .stop = call.stop()};
  std::string method = "two_world";
  TRY(call.take("method", method));
  if (method != "two_world" && method != "one_run")
    return call.arguments().error("method", "must be two_world or one_run");
  if (method == "one_run") options.method = AuditMethod::kOneRun;
  TRY(call.take("runs", options.runs));
  TRY(call.take("confidence", options.confidence));
  TRY(call.take("seed", options.seed));
  TRY(call.take("threads", options.threads));
  constexpr uint64_t kMost = 100'000'000;
  if (options.runs > kMost) return call.arguments().error("runs", "must not be above 1e8");
  if (!(options.confidence >= 0 && options.confidence < 1))
    return call.arguments().error("confidence", "must lie between 0 and 1");
  return options;
}

}  // namespace

Result<Json> charter_check(Call& call) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public"}));
  const Charter charter = TRY(call.charter());
  TRY(check_trains(charter.internal().charter));
  return answer(charter.to_json(), report::to_text(charter.internal().charter));
}

Result<Json> charter_explain(Call& call) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public"}));
  const Charter charter = TRY(call.charter());
  Json found = answer(charter.to_json(), charter.explain());
  found["hash"] = to_hex(charter.hash());
  for (const CharterOwner& owner : charter.owners())
    found["owners"].push_back({{"name", owner.name},
                               {"rows", owner.rows},
                               {"epsilon", owner.epsilon},
                               {"delta", owner.delta}});
  return found;
}

Result<Json> account_epsilon(Call& call) {
  TRY(call.only({"events", "dataset", "gaussian", "laplace", "sampling_probability", "count",
                 "delta", "epsilon", "accountant", "adjacency"}));
  AccountQuestion question;
  if (call.has("delta") == call.has("epsilon"))
    return Error{Code::kInvalid, "give either delta, to be told epsilon, or epsilon", ""};
  question.kind = call.has("delta") ? Account::Kind::kEpsilon : Account::Kind::kDelta;
  question.at = TRY(call.numbers(call.has("delta") ? "delta" : "epsilon"));
  TRY(call.take("accountant", question.accountant));
  const Events events = TRY(events_of(call));
  const Account found = TRY(account(events, question, TRY(adjacency_of(call))));
  return answer(found.to_json(), found.to_text());
}

Result<Json> account_calibrate(Call& call) {
  TRY(call.only({"events", "dataset", "gaussian", "laplace", "sampling_probability", "count",
                 "delta", "epsilon", "accountant", "adjacency"}));
  double epsilon = 0, delta = 0;
  std::string accountant;
  TRY(call.take("epsilon", epsilon));
  TRY(call.take("delta", delta));
  TRY(call.take("accountant", accountant));
  const Events events = TRY(events_of(call));
  const auto found = TRY(calibrate(events, epsilon, delta, accountant, TRY(adjacency_of(call))));
  return answer(found.to_json(), found.to_text());
}

Result<Json> audit_attack(Call& call) {
  TRY(call.only({"mechanism", "epsilon", "delta", "answers", "charter", "charter_file", "folder",
                 "set", "public", "owner", "method", "runs", "confidence", "seed", "threads"}));
  const AuditOptions options = TRY(audit_options(call));
  if (!call.has("mechanism")) {
    std::string owner;
    TRY(call.take("owner", owner));
    const Audit found = TRY(audit_charter(TRY(call.charter()), owner, options));
    return answer(found.to_json(), found.to_text());
  }
  MechanismTerms terms;
  uint64_t answers = 1;
  std::string name;
  TRY(call.take("mechanism", name));
  TRY(call.take("epsilon", terms.epsilon));
  TRY(call.take("delta", terms.delta));
  TRY(call.take("answers", answers));
  if (answers < 1 || answers > 1'000'000)
    return call.arguments().error("answers", "must lie between 1 and 1e6");
  terms.answers = static_cast<uint32_t>(answers);
  const Audit found = TRY(audit_mechanism(name, options, terms));
  return answer(found.to_json(), found.to_text());
}

Result<Json> verify_model(Call& call) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public", "model", "transcript",
                 "ledgers", "as"}));
  VerifyOptions options;
  std::filesystem::path model, transcript;
  TRY(call.take("model", model));
  TRY(call.take("transcript", transcript));
  TRY(call.take("as", options.as));
  for (const auto& [owner, file] : TRY(call.texts("ledgers"))) options.ledgers[owner] = file;
  const VerifyResult found = TRY(verify(model, transcript, TRY(call.charter()), options));
  Json said = answer(found.to_json(), found.to_text());
  said["holds"] = found.holds();
  return said;
}

}  // namespace parley::api
