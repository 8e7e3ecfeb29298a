#include "parley/report/ledger.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string short_hash(const Hash& hash) { return to_hex(hash).substr(0, 12); }

Json json_of(const ledger::Dataset& dataset) {
  const privacy::Budget& budget = dataset.budget;
  return {{"name", dataset.name},
          {"unit", dataset.unit.empty() ? Json() : Json(dataset.unit)},
          {"epsilon", budget.epsilon},
          {"delta", budget.delta},
          {"pure", {{"spent", dataset.spent.pure}, {"max", budget.pure_max}}},
          {"rho", {{"spent", dataset.spent.rho}, {"max", budget.rho_max}}},
          {"delta_extra", {{"spent", dataset.spent.delta}, {"max", budget.delta_extra}}}};
}

Json json_of(const ledger::Row& row, const std::string& dataset) {
  return {{"id", row.id},
          {"at", row.at},
          {"kind", row.kind},
          {"dataset", dataset},
          {"charter", to_hex(row.charter)},
          {"round", row.round},
          {"query", to_hex(row.query)},
          {"event", Json::parse(row.event, nullptr, false)},
          {"track", row.track},
          {"cost", row.cost},
          {"delta", row.delta},
          {"answer_bytes", row.answer.size()},
          {"answer_sha256", to_hex(sha256(row.answer))},
          {"previous", to_hex(row.previous)},
          {"hash", to_hex(row.hash)}};
}

Json json_of(const std::pair<std::string, uint64_t>& repeated) {
  Json event = Json::parse(repeated.first, nullptr, false);
  if (repeated.second == 1) return event;
  return {{"self_composed", {{"count", repeated.second}, {"event", std::move(event)}}}};
}

/// Which peers can prove that this is an older copy.
std::string about_missing(size_t missing) {
  if (missing == 0) return "";
  return fmt::format(
      "STOPPED: it is an older copy, and does not know {} of which peers hold receipts. Type: "
      "parley ledger reconcile POLICY TRANSCRIPT\n",
      missing == 1 ? "a row" : std::to_string(missing) + " rows");
}

std::string line_of(const Reconciled::Job& job) {
  const auto& [known, booked, beside, lost] = job.receipts;
  std::string more;
  if (beside > 0)
    more =
        fmt::format(", {} of them beside another answer to the same round: both are paid", beside);
  if (lost > 0) more += fmt::format(", and {} payments that reached nobody", lost);
  return fmt::format("{}: charter {}, data set {}: {} receipts known, {} booked again{}\n",
                     job.file.string(), short_hash(job.charter), job.dataset, known,
                     booked + beside, more);
}

Json json_of(const Reconciled::Job& job) {
  return {{"file", job.file.string()},     {"charter", to_hex(job.charter)},
          {"dataset", job.dataset},        {"known", job.receipts.known},
          {"booked", job.receipts.booked}, {"beside", job.receipts.beside},
          {"lost", job.receipts.lost}};
}

std::string text_of(const privacy::Budget& budget) {
  return fmt::format("epsilon {}, delta {}, pure {}", shortest(budget.epsilon),
                     shortest(budget.delta), shortest(budget.pure_max));
}

std::string name_of(const ledger::Contents& contents, int64_t dataset) {
  for (const ledger::Dataset& known : contents.datasets)
    if (known.id == dataset) return known.name;
  return std::to_string(dataset);
}

}  // namespace

namespace {

/// " by alice: we know them"
std::string because(const std::string& by, const std::string& reason) {
  return (by.empty() ? "" : " by " + by) + (reason.empty() ? "" : ": " + reason);
}

}  // namespace

std::string said_in(const ledger::Row& row) {
  if (row.kind == "budget") {
    const auto said = ledger::budget_from(row.event);
    if (!said || said->reads.source.is.empty()) return "";
    const auto& [source, by, reason] = said->reads;
    return said->name + " reads " + source.is +
           (by.empty() ? "" : ", accepted" + because(by, reason));
  }
  const auto note = ledger::is_note(row.kind) ? ledger::note_from(row.event) : std::nullopt;
  const auto* decision = note ? std::get_if<ledger::Decision>(&*note) : nullptr;
  if (decision == nullptr) return "";
  return std::string(ledger::name_of(decision->what)) + because(decision->by, decision->reason);
}

std::string to_text(const ledger::Contents& contents) {
  std::string text = fmt::format("Ledger of {}, made {}\n\n", contents.owner, contents.created);
  std::vector<std::vector<std::string>> budgets = {
      {"data set", "ε", "δ", "pure spent", "of", "ρ spent", "of", "protects"}};
  for (const ledger::Dataset& dataset : contents.datasets)
    budgets.push_back({dataset.name, significant(dataset.budget.epsilon),
                       significant(dataset.budget.delta), significant(dataset.spent.pure, 6),
                       significant(dataset.budget.pure_max, 6), significant(dataset.spent.rho, 6),
                       significant(dataset.budget.rho_max, 6),
                       dataset.unit.empty() ? "?" : dataset.unit});
  text += table(budgets) + "\n" + about_missing(contents.chain.missing().size());
  std::vector<std::vector<std::string>> rows = {
      {"row", "at", "kind", "data set", "charter", "round", "track", "cost", "hash"}};
  for (const ledger::Row& row : contents.rows) {
    const bool has_charter = row.charter != Hash{};
    rows.push_back({std::to_string(row.id), row.at, row.kind, name_of(contents, row.dataset),
                    has_charter ? short_hash(row.charter) : "",
                    has_charter ? std::to_string(row.round) : "", row.track,
                    significant(row.cost, 6), short_hash(row.hash)});
  }
  std::string said;
  for (const ledger::Row& row : contents.rows)
    if (const std::string words = said_in(row); !words.empty())
      said += fmt::format("row {}: {}\n", row.id, words);
  return text + table(rows) + (said.empty() ? "" : "\n" + said);
}

std::string to_json(const ledger::Contents& contents) {
  Json json = {{"format", "parley.ledger/1"},   {"parley", provenance()},
               {"owner", contents.owner},       {"created", contents.created},
               {"head", to_hex(contents.head)}, {"missing", contents.chain.missing().size()},
               {"datasets", Json::array()},     {"rows", Json::array()}};
  for (const ledger::Dataset& dataset : contents.datasets)
    json["datasets"].push_back(json_of(dataset));
  for (const ledger::Row& row : contents.rows)
    json["rows"].push_back(json_of(row, name_of(contents, row.dataset)));
  return json.dump(2) + "\n";
}

std::string to_json(const ledger::Exported& exported) {
  Json json = {{"format", "parley.ledger.export/1"},
               {"parley", provenance()},
               {"owner", exported.owner},
               {"head", to_hex(exported.head)},
               {"dataset", json_of(exported.dataset)},
               {"adjacency", "replace_one"},
               {"charges", exported.charges},
               {"events", Json::array()}};
  for (const auto& repeated : exported.events) json["events"].push_back(json_of(repeated));
  return json.dump(2) + "\n";
}

std::string to_text(const ledger::Verified& verified) {
  return fmt::format("{}: {} {}, chain whole, head {}\n", verified.owner,
                     grouped(static_cast<uint64_t>(verified.rows)),
                     verified.rows == 1 ? "row" : "rows", to_hex(verified.head)) +
         about_missing(verified.missing);
}

std::string restored_text(const ledger::Verified& verified) {
  return to_text(verified) +
         "The copy is in place. It does not know what was paid for after it was made; receipts do. "
         "Before the\n"
         "daemon starts, ask every learner for its transcripts and journals: parley ledger "
         "reconcile POLICY FILE...\n";
}

std::string to_json(const ledger::Verified& verified) {
  const Json json = {{"format", "parley.ledger.verify/1"},
                     {"parley", provenance()},
                     {"owner", verified.owner},
                     {"rows", verified.rows},
                     {"head", to_hex(verified.head)},
                     {"missing", verified.missing},
                     {"ledger_format", verified.format},
                     {"checkpoints", verified.checkpoints},
                     {"whole", true}};
  return json.dump(2) + "\n";
}

std::string to_text(const Reconciled& reconciled) {
  std::string text;
  for (const Reconciled::Job& job : reconciled.jobs) text += line_of(job);
  if (reconciled.missing == 0)
    return text + fmt::format("The ledger has everything that peers have receipts for; head {}\n",
                              to_hex(reconciled.head));
  return text + fmt::format(
                    "STILL STOPPED: peers hold {} receipts that are not in these "
                    "files; ask every learner\n",
                    reconciled.missing);
}

std::string to_json(const Reconciled& reconciled) {
  Json json{{"format", "parley.ledger.reconcile/1"},
            {"parley", provenance()},
            {"owner", reconciled.owner},
            {"jobs", Json::array()},
            {"missing", reconciled.missing},
            {"head", to_hex(reconciled.head)}};
  for (const Reconciled::Job& job : reconciled.jobs) json["jobs"].push_back(json_of(job));
  return json.dump(2) + "\n";
}

std::string to_text(const RaisedBudgets& budgets) {
  if (budgets.raised.empty()) return "The ledger says what the policy says.\n";
  std::string text;
  for (const RaisedBudgets::Raised& each : budgets.raised)
    text += fmt::format("{}: was {}; now {}\n", each.dataset, text_of(each.before),
                        text_of(each.after));
  return text;
}

std::string to_json(const RaisedBudgets& budgets) {
  Json json{{"format", "parley.ledger.budget/1"},
            {"parley", provenance()},
            {"owner", budgets.owner},
            {"raised", Json::array()},
            {"head", to_hex(budgets.head)}};
  for (const RaisedBudgets::Raised& each : budgets.raised)
    json["raised"].push_back({{"name", each.dataset},
                              {"epsilon", each.after.epsilon},
                              {"delta", each.after.delta},
                              {"pure_max", each.after.pure_max},
                              {"rho_max", each.after.rho_max}});
  return json.dump(2) + "\n";
}

std::string to_text(const AcceptedSource& accepted) {
  return fmt::format("{} may read {}: {} says so\n", accepted.dataset, accepted.source,
                     accepted.by);
}

std::string to_json(const AcceptedSource& accepted) {
  const Json json{{"format", "parley.ledger.source/1"},
                  {"parley", provenance()},
                  {"owner", accepted.owner},
                  {"dataset", accepted.dataset},
                  {"source", accepted.source},
                  {"by", accepted.by},
                  {"reason", accepted.reason},
                  {"head", to_hex(accepted.head)}};
  return json.dump(2) + "\n";
}

}  // namespace parley::report
