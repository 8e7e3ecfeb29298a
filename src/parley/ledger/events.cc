#include "parley/ledger/events.h"

#include <cmath>
#include <nlohmann/json.hpp>

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

std::string about_row(const char* what, ReleaseKind kind, const Hash& chain) {
  return std::string("{\"") + what + "\":{\"kind\":\"" + std::string(name_of(kind)) +
         "\",\"chain\":\"" + to_hex(chain) + "\"}}";
}

template <class T>
std::optional<Note> row_from(const Json& body) {
  const auto kind = release_kind(text(body, "kind"));
  const auto chain = hash_from_hex(text(body, "chain"));
  if (!kind || !chain) return std::nullopt;
  return T{*kind, *chain};
}

std::optional<Note> parse(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  if (const Json* body = body_of(json, "approved"))
    return Approved{text(*body, "by"), text(*body, "at")};
  if (const Json* body = body_of(json, "missing")) return row_from<Missing>(*body);
  if (const Json* body = body_of(json, "restored")) {
    auto note = row_from<Restored>(*body);
    const auto job = hash_from_hex(text(*body, "job"));
    if (note && job) std::get<Restored>(*note).job = *job;
    return note;
  }
  return std::nullopt;
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

std::string budget_event(const Dataset& dataset) {
  const Budget& budget = dataset.budget;
  const std::string unit = dataset.unit.empty() ? "" : ",\"unit\":\"" + dataset.unit + "\"";
  return "{\"budget\":{\"dataset\":\"" + dataset.name + "\"" + unit +
         member("epsilon", budget.epsilon) + member("delta", budget.delta) +
         member("pure_max", budget.pure_max) + member("rho_max", budget.rho_max) +
         member("delta_convert", budget.delta_convert) + member("delta_extra", budget.delta_extra) +
         "}}";
}

std::optional<Dataset> budget_from(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  const Json* body = body_of(json, "budget");
  if (body == nullptr) return std::nullopt;
  Dataset dataset{.name = text(*body, "dataset"),
                  .budget = {.epsilon = number(*body, "epsilon"),
                             .delta = number(*body, "delta"),
                             .pure_max = number(*body, "pure_max"),
                             .rho_max = number(*body, "rho_max"),
                             .delta_convert = number(*body, "delta_convert"),
                             .delta_extra = number(*body, "delta_extra")},
                  .unit = text(*body, "unit")};
  if (budget_event(dataset) != event) return std::nullopt;
  return dataset;
}

std::string note_event(const Note& note) {
  if (const auto* approved = std::get_if<Approved>(&note))
    return "{\"approved\":{\"by\":\"" + approved->by + "\",\"at\":\"" + approved->at + "\"}}";
  if (const auto* missing = std::get_if<Missing>(&note))
    return about_row("missing", missing->kind, missing->chain);
  const auto& restored = std::get<Restored>(note);
  std::string event = about_row("restored", restored.kind, restored.chain);
  if (restored.job) event.insert(event.size() - 2, ",\"job\":\"" + to_hex(*restored.job) + "\"");
  return event;
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
