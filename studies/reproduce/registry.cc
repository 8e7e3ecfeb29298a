#include "studies/reproduce/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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
    {"V-F1", "two parties share few columns, by epochs", "census", sharing_census},
    {"V-F2", "three parties share many columns, by epochs", "", sharing_digits},
    {"V-F3", "sharing with the paper's noise", "census", sharing_noise},
    {"V-T1", "is a message with that noise private?", "", sharing_theorem},
    {"V-cor1", "what 20 epochs would cost", "", sharing_epochs},
    {"V-value", "one number per record and epoch", "census", sharing_values},
    {"H-T1", "what Theorem 1's noise gives", "", federated_privacy},
    {"H-T4", "Theorem 4's bound over local steps", "census", federated_bound},
    {"H-K", "how many local steps", "census", federated_steps},
    {"H-comm", "what local steps save", "census", federated_communication},
    {"H-rate", "the price of privacy in records, columns and budget", "", federated_rate},
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

Result<std::vector<const Entry*>> chosen(const std::vector<std::string>& ids, const Study& study) {
  for (const std::string& id : ids)
    if (std::ranges::none_of(kEntries, [&](const Entry& entry) { return entry.id == id; }))
      return Error{Code::kInvalid, "there is no figure or claim '" + id + "'",
                   "parley reproduce --list names them."};
  std::vector<const Entry*> result;
  for (const Entry& entry : kEntries) {
    if (!ids.empty() && std::ranges::count(ids, entry.id) == 0) continue;
    if (!study.data.empty() && !entry.data.empty()) TRY(find_file(study.data, entry.data));
    result.push_back(&entry);
  }
  return result;
}

Result<Figure> compute(const Entry& entry, const Study& study) {
  const auto start = std::chrono::steady_clock::now();
  Figure figure = TRY(entry.compute(study));
  figure.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (study.data.empty() || entry.data.empty()) return figure;
  if (!TRY(find_file(study.data, entry.data)).map->excerpt) return figure;
  for (Measure& measure : figure.measures) measure.conclusive = false;
  figure.data += "; an excerpt of the paper's data, which can show a claim but not refute it";
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
         "H: Huang, local steps under secure aggregation.\n";
}

std::string list_json() {
  nlohmann::ordered_json json = {{"format", "parley.reproduce.list/1"},
                                 {"parley", report::provenance()}};
  for (const Entry& entry : kEntries)
    json["figures"].push_back({{"id", entry.id}, {"what", entry.what}, {"data", entry.data}});
  return json.dump(2) + "\n";
}

}  // namespace parley::reproduce
