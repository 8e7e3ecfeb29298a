#include "parley/ledger.h"

#include <algorithm>
#include <utility>

#include "parley/api/internal.h"
#include "parley/ledger/backup.h"
#include "parley/report/ledger.h"

namespace parley {

Result<Ledger> Ledger::read(const std::filesystem::path& file) {
  return Ledger(std::make_shared<const Internal>(Internal{TRY(ledger::read(file))}));
}

Ledger::Ledger(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}
const std::string& Ledger::owner() const { return internal().contents.owner; }
const std::string& Ledger::created() const { return internal().contents.created; }
Hash Ledger::head() const { return internal().contents.head; }
size_t Ledger::missing() const { return internal().contents.chain.missing().size(); }
std::string Ledger::to_text() const { return report::to_text(internal().contents); }
std::string Ledger::to_json() const { return report::to_json(internal().contents); }

std::vector<LedgerDataset> Ledger::datasets() const {
  std::vector<LedgerDataset> datasets;
  for (const ledger::Dataset& each : internal().contents.datasets)
    datasets.push_back({.name = each.name,
                        .unit = each.unit,
                        .epsilon = each.budget.epsilon,
                        .delta = each.budget.delta,
                        .pure_spent = each.spent.pure,
                        .pure_max = each.budget.pure_max,
                        .rho_spent = each.spent.rho,
                        .rho_max = each.budget.rho_max,
                        .delta_spent = each.spent.delta,
                        .delta_max = each.budget.delta_extra});
  return datasets;
}

std::vector<LedgerRow> Ledger::rows() const {
  const ledger::Contents& contents = internal().contents;
  std::vector<LedgerRow> rows;
  for (const ledger::Row& row : contents.rows) {
    const auto known = std::find_if(contents.datasets.begin(), contents.datasets.end(),
                                    [&](const auto& each) { return each.id == row.dataset; });
    rows.push_back({.id = row.id,
                    .at = row.at,
                    .kind = row.kind,
                    .dataset = known == contents.datasets.end() ? "" : known->name,
                    .charter = row.charter,
                    .round = row.round,
                    .track = row.track,
                    .cost = row.cost,
                    .hash = row.hash});
  }
  return rows;
}

Result<VerifiedLedger> verify_ledger(const std::filesystem::path& file) {
  return ledger::verify(file);
}

std::string VerifiedLedger::to_text() const { return report::to_text(*this); }
std::string VerifiedLedger::to_json() const { return report::to_json(*this); }

Result<VerifiedLedger> back_up_ledger(const std::filesystem::path& file,
                                      const std::filesystem::path& copy) {
  return ledger::back_up(file, copy);
}

Result<std::string> export_ledger(const std::filesystem::path& file, const std::string& dataset) {
  return report::to_json(TRY(ledger::export_events(file, dataset)));
}

}  // namespace parley
