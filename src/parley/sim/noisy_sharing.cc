#include "parley/sim/noisy_sharing.h"

#include <cmath>
#include <utility>

#include "parley/learn/sharing/admm.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/party.h"

namespace parley::sim {
namespace {

using Shares = std::vector<std::vector<int64_t>>;  // by owner

/// All parties and the coordinator, as far as they have come.
class Table {
 public:
  Table(const SimulateInput& input, const gate::SharingTerms& terms)
      : plan_(*terms.noisy),
        labels_(labels_of(input.owners[terms.label_holder].rows)),
        coordinator_(
            {.loss = charter::loss_of(input.charter.model), .lam = plan_.lam, .rho = plan_.rho},
            labels_, input.owners.size()),
        last_(input.owners.size(), std::vector<double>(plan_.rows)) {
    for (size_t m = 0; m < input.owners.size(); ++m)
      parties_.emplace_back(input.owners[m].rows, plan_, m);
  }

  /// What is to be published next.
  Shares next() {
    Shares shares;
    for (size_t m = 0; m < parties_.size(); ++m)
      shares.push_back(parties_[m].step(last_[m], coordinator_.message()));
    return shares;
  }
  void take(const Shares& published) {
    std::vector<double> sum(plan_.rows);
    for (size_t m = 0; m < published.size(); ++m)
      for (size_t i = 0; i < sum.size(); ++i) {
        last_[m][i] = std::ldexp(static_cast<double>(published[m][i]), -plan_.fraction);
        sum[i] += last_[m][i];
      }
    coordinator_.step(sum);
  }
  std::vector<std::vector<double>> models() const {
    std::vector<std::vector<double>> models;
    for (const auto& party : parties_)
      models.emplace_back(party.model().begin(), party.model().end());
    return models;
  }

 private:
  static std::vector<double> labels_of(const learn::AnyRows& rows) {
    std::vector<double> labels(learn::size_of(rows));
    std::visit(
        [&](const auto& kind) {
          for (size_t i = 0; i < labels.size(); ++i) labels[i] = kind->label(i);
        },
        rows);
    return labels;
  }

  learn::NoisySharingPlan plan_;
  std::vector<double> labels_;
  learn::Coordinator coordinator_;
  std::vector<std::vector<double>> last_;
  std::vector<learn::NoisySharingParty> parties_{};
};

Hash digest_of(const Shares& shares) {
  TupleBytes tuple;
  for (const auto& share : shares) tuple.add(bytes_of(share));
  return tuple.sha256();
}

}  // namespace

Result<NoisySharingRun> share_noisily(const SimulateInput& input, const SimulateOptions& options,
                                      uint64_t run) {
  const gate::SharingTerms terms = TRY(gate::sharing_terms(input.charter));
  check(terms.noisy.has_value());
  std::vector<std::unique_ptr<Party>> owners;
  std::vector<gate::ColumnsGate> gates;
  for (size_t m = 0; m < input.owners.size(); ++m) {
    const std::string& name = input.charter.owners[m].name;
    owners.push_back(TRY(
        Party::make({.charter = input.charter,
                     .owner = m,
                     .rows = input.owners[m].rows,
                     .policy = nullptr,
                     .seed = options.seed,
                     .run = run,
                     .ledger = run == 0 ? ledger_file(options.out, name) : std::filesystem::path(),
                     .threads = 1})));
    gates.push_back(TRY(owners[m]->open_columns_gate()));
  }
  Table table(input, terms);
  NoisySharingRun result{.rounds = terms.rounds};
  for (uint32_t round = 1; round <= terms.rounds; ++round) {
    Shares shares = table.next();
    for (size_t m = 0; m < shares.size(); ++m)
      for (int64_t& value : shares[m]) value += terms.noise.sample(owners[m]->entropy());
    const Hash what = digest_of(shares), question = digest_of({{int64_t{round}}});
    for (auto& gate : gates) TRY(gate.pay(round, question, what));
    table.take(shares);
    result.published.push_back(std::move(shares));
    options.progress(owners.size());
  }
  result.parts = table.models();
  for (const auto& owner : owners) result.epsilon.push_back(owner->epsilon_spent());
  return result;
}

Result<std::vector<std::vector<std::vector<int64_t>>>> expected_shares(
    const SimulateInput& input, const std::vector<std::vector<std::vector<int64_t>>>& published) {
  Table table(input, TRY(gate::sharing_terms(input.charter)));
  std::vector<Shares> expected;
  for (const Shares& shares : published) {
    expected.push_back(table.next());
    table.take(shares);
  }
  return expected;
}

}  // namespace parley::sim
