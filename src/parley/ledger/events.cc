#include "parley/ledger/events.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::ledger {
namespace {

using Json = nlohmann::json;
using privacy::Budget;
using privacy::ReleaseKind;

/// One key of a JSON object. SQLite does not keep the sign of a zero, so neither does the text.
std::string member(const char* key, double value) {
  return std::string(",\"") + key + "\":" + shortest(value + 0.0);
}

/// The only member of `event`, if that is an object and is called `key`.
const Json* body_of(const Json& event, const char* key) {
  if (!event.is_object() || event.size() != 1) return nullptr;
  const auto found = event.find(key);
  return found != event.end() && found->is_object() ? &*found : nullptr;
}

double number(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number() ? found->get<double>() : NAN;
}

std::string text(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A further member of an object, left out where it says nothing.
std::string member_if(const char* key, const std::string& value) {
  return value.empty() ? "" : std::string(",\"") + key + "\":" + quoted(value);
}

std::string object(std::string_view what, const std::string& members) {
  return "{\"" + std::string(what) + "\":{" + members + "}}";
}

std::string about_row(ReleaseKind kind, const Hash& chain) {
  return "\"kind\":\"" + std::string(name_of(kind)) + "\",\"chain\":\"" + to_hex(chain) + "\"";
}

std::string text_of(const Decision& decision) {
  return object(name_of(decision.what),
                "\"by\":" + quoted(decision.by) + ",\"at\":" + quoted(decision.at) +
                    member_if("reason", decision.reason) +
                    member_if("signature", decision.signature ? to_hex(*decision.signature) : ""));
}
std::string text_of(const Missing& missing) {
  return object("missing", about_row(missing.kind, missing.chain));
}
std::string text_of(const Restored& restored) {
  return object("restored", about_row(restored.kind, restored.chain) +
                                member_if("job", restored.job ? to_hex(*restored.job) : ""));
}
std::string text_of(const Checkpoint& checkpoint) {
  return object("checkpoint", "\"key\":\"" + to_text(checkpoint.key) + "\",\"signature\":\"" +
                                  to_hex(checkpoint.signature) + "\"");
}

std::optional<Hash> hash_in(const Json& body, const char* key) {
  const auto hash = hash_from_hex(text(body, key));
  return hash ? std::optional(*hash) : std::nullopt;
}

std::optional<Signature> signature_in(const Json& body) {
  const auto bytes = from_hex(text(body, "signature"));
  Signature signature;
  if (!bytes || bytes->size() != signature.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), signature.begin());
  return signature;
}

std::optional<Note> decision_from(const Json& event) {
  for (const auto what :
       {Decision::What::kApproved, Decision::What::kRefused, Decision::What::kWithdrawn})
    if (const Json* body = body_of(event, std::string(name_of(what)).c_str()))
      return Decision{what, text(*body, "by"), text(*body, "at"), text(*body, "reason"),
                      signature_in(*body)};
  return std::nullopt;
}

template <class T>
std::optional<T> row_from(const Json& body) {
  const auto kind = release_kind(text(body, "kind"));
  const auto chain = hash_in(body, "chain");
  if (!kind || !chain) return std::nullopt;
  return T{*kind, *chain};
}

std::optional<Note> checkpoint_from(const Json& body) {
  const auto key = sign_key_from(text(body, "key"));
  const auto signature = signature_in(body);
  if (!key || !signature) return std::nullopt;
  return Checkpoint{*key, *signature};
}

/// Not yet compared with what a note of this meaning would say.
std::optional<Note> parse(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  if (const Json* body = body_of(json, "missing")) return row_from<Missing>(*body);
  if (const Json* body = body_of(json, "restored")) {
    auto restored = row_from<Restored>(*body);
    if (restored) restored->job = hash_in(*body, "job");
    return restored;
  }
  if (const Json* body = body_of(json, "checkpoint")) return checkpoint_from(*body);
  return decision_from(json);
}

}  // namespace

std::string_view name_of(ReleaseKind kind) {
  switch (kind) {
    case ReleaseKind::kEvaluation:
      return "evaluation";
    case ReleaseKind::kCount:
      return "count";
    case ReleaseKind::kGram:
      return "gram";
    case ReleaseKind::kAfterAlarm:
      return "after_alarm";
    default:
      return "answer";
  }
}

std::optional<ReleaseKind> release_kind(std::string_view name) {
  using enum ReleaseKind;
  for (const auto kind : {kAnswer, kEvaluation, kCount, kGram, kAfterAlarm})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

std::string hex_of(const std::vector<Hash>& fingerprints) {
  std::string text;
  for (const Hash& each : fingerprints) text += (text.empty() ? "" : " ") + to_hex(each);
  return text;
}

std::optional<std::vector<Hash>> fingerprints_from(const std::string& text) {
  std::vector<Hash> all;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto hash = hash_from_hex(word);
    if (!hash) return std::nullopt;
    all.push_back(*hash);
  }
  return all;
}

std::string budget_event(const Dataset& dataset) {
  const Budget& budget = dataset.budget;
  const std::string unit = dataset.unit.empty() ? "" : ",\"unit\":\"" + dataset.unit + "\"";
  const auto& [source, by, reason] = dataset.reads;
  return "{\"budget\":{\"dataset\":\"" + dataset.name + "\"" + unit +
         member_if("source", source.is) + member_if("fingerprint", hex_of(source.fingerprints)) +
         member_if("by", by) + member_if("reason", reason) + member("epsilon", budget.epsilon) +
         member("delta", budget.delta) + member("pure_max", budget.pure_max) +
         member("rho_max", budget.rho_max) + member("delta_convert", budget.delta_convert) +
         member("delta_extra", budget.delta_extra) + "}}";
}

std::optional<Dataset> budget_from(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  const Json* body = body_of(json, "budget");
  if (body == nullptr) return std::nullopt;
  const auto fingerprints = fingerprints_from(text(*body, "fingerprint"));
  if (!fingerprints) return std::nullopt;
  Dataset dataset{
      .name = text(*body, "dataset"),
      .budget = {.epsilon = number(*body, "epsilon"),
                 .delta = number(*body, "delta"),
                 .pure_max = number(*body, "pure_max"),
                 .rho_max = number(*body, "rho_max"),
                 .delta_convert = number(*body, "delta_convert"),
                 .delta_extra = number(*body, "delta_extra")},
      .unit = text(*body, "unit"),
      .reads = {{text(*body, "source"), *fingerprints}, text(*body, "by"), text(*body, "reason")}};
  if (budget_event(dataset) != event) return std::nullopt;
  return dataset;
}

std::string_view name_of(Decision::What what) {
  switch (what) {
    case Decision::What::kRefused:
      return "refused";
    case Decision::What::kWithdrawn:
      return "withdrawn";
    default:
      return "approved";
  }
}

Bytes decision_bytes(const std::string& owner, const Hash& charter, Decision::What what) {
  return TupleBytes().add("parley decision").add(owner).add(charter).add(name_of(what)).bytes();
}

std::string_view kind_of(const Note& note, int64_t format) {
  if (format >= 2 && std::holds_alternative<Checkpoint>(note)) return "checkpoint";
  return "approval";
}

bool is_note(std::string_view kind) { return kind == "approval" || kind == "checkpoint"; }

std::string note_event(const Note& note) {
  return std::visit([](const auto& each) { return text_of(each); }, note);
}

std::optional<Note> note_from(const std::string& event) {
  const auto note = parse(event);
  if (!note || note_event(*note) != event) return std::nullopt;
  return note;
}

bool keeps_promise(const Budget& budget) {
  const bool in_range = budget.epsilon > 0 && std::isfinite(budget.epsilon) && budget.delta < 1 &&
                        budget.pure_max >= 0 && budget.rho_max >= 0 && budget.delta_convert >= 0 &&
                        budget.delta_extra >= 0;
  if (!in_range || !(budget.delta_convert + budget.delta_extra <= budget.delta)) return false;
  if (budget.rho_max == 0) return budget.pure_max <= budget.epsilon;
  const auto delta = privacy::Delta::make(budget.delta_convert);
  return delta && privacy::zcdp_epsilon(budget.rho_max, *delta) <= budget.epsilon - budget.pure_max;
}

bool is_raised(const Budget& before, const Budget& after) {
  return after.epsilon >= before.epsilon && after.delta >= before.delta &&
         after.pure_max >= before.pure_max && after.rho_max >= before.rho_max &&
         after.delta_convert >= before.delta_convert && after.delta_extra >= before.delta_extra;
}

}  // namespace parley::ledger
