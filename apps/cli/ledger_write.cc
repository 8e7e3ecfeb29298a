// parley ledger reconcile POLICY RECEIPTS..., parley ledger budget POLICY: what a person may write
// into a ledger. The daemon must be stopped, for a ledger has one writer.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/base/math/number.h"
#include "parley/net/owner.h"
#include "parley/net/reconcile.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const net::Reconciled::Job& job) {
  const auto& [known, booked, beside, lost] = job.receipts;
  std::string more;
  if (beside > 0)
    more =
        fmt::format(", {} of them beside another answer to the same round: both are paid", beside);
  if (lost > 0) more += fmt::format(", and {} payments that reached nobody", lost);
  return fmt::format("{}: charter {}, data set {}: {} receipts known, {} booked again{}\n",
                     job.file.string(), to_hex(job.charter).substr(0, 12), job.dataset, known,
                     booked + beside, more);
}

Json json_of(const net::Reconciled::Job& job) {
  return {{"file", job.file.string()},     {"charter", to_hex(job.charter)},
          {"dataset", job.dataset},        {"known", job.receipts.known},
          {"booked", job.receipts.booked}, {"beside", job.receipts.beside},
          {"lost", job.receipts.lost}};
}

std::string text_of(const privacy::Budget& budget) {
  return fmt::format("epsilon {}, delta {}, pure {}", shortest(budget.epsilon),
                     shortest(budget.delta), shortest(budget.pure_max));
}

}  // namespace

Result<Output> run(const ReconcileOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  auto ledger = TRY(ledger::Ledger::open(net::ledger_of(policy), policy.owner, clock));
  const auto done = TRY(net::reconcile(policy, ledger, options.receipts, options.dataset));
  Output output;
  Json jobs = Json::array();
  for (const auto& job : done.jobs) {
    output.text += line_of(job);
    jobs.push_back(json_of(job));
  }
  output.text +=
      done.missing == 0
          ? fmt::format("Nothing that was shown is missing; head {}\n", to_hex(done.head))
          : fmt::format(
                "STILL STOPPED: peers hold {} receipts that are not in these "
                "files; ask every learner\n",
                done.missing);
  output.json = Json{{"format", "parley.ledger.reconcile/1"},
                     {"parley", report::provenance()},
                     {"owner", policy.owner},
                     {"jobs", jobs},
                     {"missing", done.missing},
                     {"head", to_hex(done.head)}}
                    .dump(2) +
                "\n";
  output.exit = done.missing == 0 ? 0 : exit_status(Code::kIntegrity);
  return output;
}

Result<Output> run(const BudgetOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  auto ledger = TRY(ledger::Ledger::open(net::ledger_of(policy), policy.owner, clock));
  const auto raised = TRY(net::raise_budgets(policy, ledger));
  Output output;
  Json datasets = Json::array();
  for (const net::Raised& each : raised) {
    output.text += fmt::format("{}: was {}; now {}\n", each.dataset, text_of(each.before),
                               text_of(each.after));
    datasets.push_back({{"name", each.dataset},
                        {"epsilon", each.after.epsilon},
                        {"delta", each.after.delta},
                        {"pure_max", each.after.pure_max},
                        {"rho_max", each.after.rho_max}});
  }
  if (raised.empty()) output.text = "The ledger says what the policy says.\n";
  output.json = Json{{"format", "parley.ledger.budget/1"},
                     {"parley", report::provenance()},
                     {"owner", policy.owner},
                     {"raised", datasets},
                     {"head", to_hex(ledger.head())}}
                    .dump(2) +
                "\n";
  return output;
}

}  // namespace parley::cli
