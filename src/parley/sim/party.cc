#include "parley/sim/party.h"

#include <algorithm>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/plan/terms.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/protocol/federated/owner.h"
#include "parley/sim/federated.h"

namespace parley::sim {
namespace {

/// The data set and lifetime budget that pay for the job.
struct Purse {
  std::string dataset;
  privacy::Budget budget;
};

Result<Purse> purse_of(const Party::Setting& setting) {
  const charter::Owner& owner = setting.charter.owners[setting.owner];
  if (setting.policy == nullptr) {
    const auto epsilon = TRY(privacy::Epsilon::make(owner.epsilon));
    const double pure = owner.delta == 0 ? owner.epsilon : 0;
    const auto budget = TRY(privacy::Budget::make(epsilon, owner.delta, pure));
    return Purse{"simulated", budget};
  }
  const charter::Dataset* data = TRY(setting.policy->dataset_for(setting.charter));
  return Purse{data->name, data->budget};
}

}  // namespace

Party::Party(std::unique_ptr<Clock> clock, ledger::Ledger ledger, ledger::DatasetId dataset,
             const privacy::Budget& budget, const Setting& setting)
    : charter_(setting.charter),
      place_(setting.owner),
      rows_(setting.rows),
      threads_(setting.threads),
      clock_(std::move(clock)),
      ledger_(std::move(ledger)),
      dataset_(dataset),
      budget_(budget),
      entropy_(setting.seed, setting.charter.owners[setting.owner].name, setting.run) {}

Result<std::unique_ptr<Party>> Party::make(const Setting& setting) {
  const std::string& name = setting.charter.owners[setting.owner].name;
  const Purse purse = TRY(purse_of(setting));
  std::unique_ptr<Clock> clock = std::make_unique<SimulatedClock>();
  ledger::Ledger ledger =
      TRY(setting.ledger.empty() ? ledger::Ledger::open_volatile(name, *clock)
                                 : ledger::Ledger::open(setting.ledger, name, *clock));
  const auto dataset =
      TRY(ledger.declare(purse.dataset, purse.budget, setting.charter.privacy.unit));
  return std::unique_ptr<Party>(
      new Party(std::move(clock), std::move(ledger), dataset, purse.budget, setting));
}

Result<gate::Gate> Party::open_gate(const charter::Charter& job) {
  const auto has_name = [&](const charter::Owner& owner) { return owner.name == name(); };
  const auto found = std::find_if(job.owners.begin(), job.owners.end(), has_name);
  check(found != job.owners.end());
  plan::Terms terms = TRY(plan::terms_for(job, size_t(found - job.owners.begin())));
  return gate::Gate::open(gate::Records(rows_), std::move(terms), ledger_, dataset_, entropy_,
                          threads_);
}

Result<std::unique_ptr<protocol::Owner>> Party::open_federated() {
  return protocol::open_federated(charter_, place_, gate::Records(rows_), ledger_, dataset_,
                                  simulated_key(name()), entropy_, threads_);
}

Result<gate::ColumnsGate> Party::open_columns_gate() {
  auto terms = TRY(plan::vertical_terms(charter_));
  return gate::ColumnsGate::open(gate::Records(rows_), std::move(terms), place_, ledger_, dataset_);
}

double Party::epsilon_spent() const {
  const privacy::Spent spent = ledger_.spent(dataset_);
  if (spent.rho == 0) return spent.pure;
  const auto delta = *privacy::Delta::make(budget_.delta_convert);
  return add_up(spent.pure, privacy::zcdp_epsilon(spent.rho, delta));
}

}  // namespace parley::sim
