#include "studies/reproduce/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/report/provenance.h"
#include "studies/reproduce/data/files.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace {

constexpr Entry kEntries[] = {
    {"S-F2", "three banks learn interest rates, by rounds", "lending", sync_loans_rounds},
    {"S-F3", "three banks, over size and budget", "lending", sync_loans_surface},
    {"S-F4", "three banks, over the budget: slope -2", "lending", sync_loans_budgets},
    {"S-F5", "three banks, over the size: slope -2", "lending", sync_loans_sizes},
    {"S-F6", "a bank beside two others, in four scenarios", "lending", sync_loans_scenarios},
    {"S-F7", "three banks detect fraud, by rounds", "credit", sync_fraud_rounds},
    {"S-F8", "fraud detection over size and budget", "credit", sync_fraud_surface},
    {"S-F9", "fraud detection over the budget: slope -2?", "credit", sync_fraud_budgets},
    {"S-F10", "fraud detection over the size: slope -2?", "credit", sync_fraud_sizes},
    {"S-F11", "fraud detection in four scenarios", "credit", sync_fraud_scenarios},
    {"S-claim1", "within 90 % for fraud at epsilon 1", "credit", sync_claim_fraud},
    {"S-claim2", "within 90 % for loans at epsilon 10", "lending", sync_claim_loans},
    {"S-claim3", "overlapping records cost kappa squared", "lending", sync_claim_overlap},
    {"S-T2", "Theorem 2 for a fixed rho", "", sync_theorem},
    {"A-F2", "fitness by rounds, three banks", "lending", async_lending_rounds},
    {"A-F3", "who communicates when, three banks", "", async_timing_lending},
    {"A-F4", "fitness over size and budget, three banks", "lending", async_lending_surface},
    {"A-F5", "slope over budget and over size, three banks", "lending", async_lending_slopes},
    {"A-F6", "how many banks it takes to beat one alone", "lending", async_coalition},
    {"A-F7", "which hospitals gain", "hospital", async_hospital_gain},
    {"A-F8", "fitness by rounds, 86 hospitals", "hospital", async_hospital_rounds},
    {"A-F9", "who communicates when, 86 hospitals", "", async_timing_hospital},
    {"A-F10", "fitness over budget, 86 hospitals", "hospital", async_hospital_slope},
    {"A-abs", "more than 10 owners at epsilon 1 beat isolation", "lending", async_abstract},
    {"A-T2", "Theorem 2 for a fixed rho", "", async_theorem},
    {"V-F1", "two parties share few columns, by epochs", "census", sharing_census},
    {"V-F2", "three parties share many columns, by epochs", "digits", sharing_digits, 1},
    {"V-F3a", "few columns with the paper's noise", "census", sharing_noise_census},
    {"V-F3b", "many columns with the paper's noise", "digits", sharing_noise_digits, 1},
    {"V-T1", "is a message with that noise private?", "", sharing_theorem},
    {"V-cor1", "what 20 epochs would cost", "", sharing_epochs},
    {"V-value", "one number per record and epoch", "", sharing_values},
    {"H-T1", "what Theorem 1's noise gives", "", federated_privacy},
    {"H-L2", "Lemma 2, step by step", "census", federated_lemma2, 3, false},
    {"H-L3", "Lemma 3 where noise is large", "", federated_lemma3},
    {"H-T4", "Theorem 4's bound over local steps", "census", federated_bound, 3, false},
    {"H-K", "how many local steps", "census", federated_steps, 3, false},
    {"H-comm", "what local steps save", "", federated_communication},
    {"H-rate", "the price of privacy in records, columns and budget", "", federated_rate},
    // Beyond the papers.
    {"B-sync", "owners that lie, synchronous answers", "", liars_sync},
    {"B-secure", "owners that lie, in secure sums", "", liars_secure},
    {"B-async", "owners that lie, asynchronous answers", "", liars_async},
    {"B-federated", "owners that lie, local steps", "", liars_federated},
    {"B-sharing", "owners that lie, columns in several places", "", liars_sharing},
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

namespace {

/// The paper's digits are seldom at hand: without them the stand-in is taken.
bool may_lack(const Entry& entry) { return entry.data == "digits"; }

}  // namespace

Result<DataKind> kind_of(const Entry& entry, const Study& study) {
  if (entry.data.empty()) return DataKind::kNone;
  if (study.data.empty()) return DataKind::kStandin;
  const auto found = find_file(study.data, entry.data);
  if (!found && may_lack(entry)) return DataKind::kStandin;
  if (!found) return found.error();
  return found->map->excerpt || !entry.papers_file ? DataKind::kExcerpt : DataKind::kPapers;
}

Result<std::vector<const Entry*>> chosen(const std::vector<std::string>& ids, const Study& study) {
  for (const std::string& id : ids)
    if (std::ranges::none_of(kEntries, [&](const Entry& entry) { return entry.id == id; }))
      return Error{Code::kInvalid, "there is no figure or claim '" + id + "'",
                   "parley reproduce --list names them."};
  std::vector<const Entry*> result;
  for (const Entry& entry : kEntries) {
    if (!ids.empty() && std::ranges::count(ids, entry.id) == 0) continue;
    TRY(kind_of(entry, study));
    result.push_back(&entry);
  }
  return result;
}

std::vector<const Entry*> part_of(const std::vector<const Entry*>& entries, uint64_t index,
                                  uint64_t count) {
  const auto first = [&](uint64_t part) { return long(entries.size() * part / count); };
  return {entries.begin() + first(index - 1), entries.begin() + first(index)};
}

Result<Figure> compute(const Entry& entry, const Study& study) {
  Figure figure = TRY(entry.compute(study));
  figure.kind = TRY(kind_of(entry, study));
  if (figure.kind == DataKind::kExcerpt)
    figure.data += entry.papers_file ? "; real records, not all of the paper's"
                                     : "; real records: the paper has no experiments";
  return figure;
}

std::string list_text() {
  std::string text;
  for (const Entry& entry : kEntries)
    text += fmt::format("{:<10} {:<9} {}\n", entry.id, entry.data, entry.what);
  return text +
         "\nS: Wu et al., synchronous. A: Farokhi et al., asynchronous. V: Hu et al., columns in "
         "several "
         "places.\n"
         "H: Huang, local steps under secure aggregation. B: beyond the papers.\n";
}

std::string list_json() {
  nlohmann::ordered_json json = {{"format", "parley.reproduce.list/1"},
                                 {"parley", report::provenance()}};
  for (const Entry& entry : kEntries)
    json["figures"].push_back({{"id", entry.id}, {"what", entry.what}, {"data", entry.data}});
  return json.dump(2) + "\n";
}

}  // namespace parley::reproduce
