#include "parley/sim/engine/party.h"

#include <algorithm>
#include <utility>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/ledger/events.h"
#include "parley/ledger/simulated.h"
#include "parley/plan/terms.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/protocol/vertical/owner.h"

namespace parley::sim {
namespace {

/// What pays for the job.
struct Account {
  std::string dataset;
  privacy::Budget budget;
};

Result<Account> account_of(const Party::Setting& setting) {
  const charter::Owner& owner = setting.charter.owners[setting.owner];
  if (setting.policy == nullptr) {
    const auto epsilon = TRY(privacy::Epsilon::make(owner.epsilon));
    const double pure = privacy::Budget::pure_unless_said(owner.epsilon, owner.delta);
    const auto budget = TRY(privacy::Budget::make(epsilon, owner.delta, pure));
    return Account{"simulated", budget};
  }
  const charter::Dataset* data = TRY(setting.policy->dataset_for(setting.charter));
  return Account{data->name, data->budget};
}

/// Empty, which means in memory, if nothing is to be kept.
std::filesystem::path folder_of(const std::filesystem::path& out, const std::string& owner) {
  return out.empty() ? out : out / "simulated" / owner;
}

}  // namespace

std::filesystem::path ledger_file(const std::filesystem::path& out, const std::string& owner) {
  return folder_of(out, owner) / "ledger.db";
}

SigningKey simulated_key(const std::string& owner) {
  return SigningKey::from_seed(TupleBytes().add("simulated").add(owner).sha256());
}

wire::Note simulated_approval(const charter::Charter& charter, const std::string& owner) {
  const Bytes bytes =
      ledger::decision_bytes(owner, charter.hash, ledger::Decision::What::kApproved);
  return {.kind = wire::Note::Kind::kApproved,
          .owner = owner,
          .approval = simulated_key(owner).sign(bytes)};
}

Result<void> clear_ledgers(const charter::Charter& charter, const std::filesystem::path& out) {
  for (const charter::Owner& owner : charter.owners) {
    const auto file = ledger_file(out, owner.name);
    TRY(make_directories(file.parent_path()));
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(file.string() + suffix, ignored);
  }
  return {};
}

Result<std::unique_ptr<Party>> Party::make(const SimulateInput& input,
                                           const SimulateOptions& options, size_t owner,
                                           uint64_t run, const std::optional<Secret32>& secret) {
  const std::string& name = input.charter.owners[owner].name;
  const auto policy = input.policies.find(name);
  const auto keep = run == 0 ? folder_of(options.out, name) : std::filesystem::path();
  return make({.charter = input.charter,
               .owner = owner,
               .rows = input.owners[owner].rows,
               .policy = policy == input.policies.end() ? nullptr : &policy->second,
               .seed = options.seed,
               .run = run,
               .ledger = keep.empty() ? keep : ledger_file(options.out, name),
               .threads = options.threads,
               .pilot = input.pilot.get(),
               .records = input.owners[owner].records,
               .keep = keep,
               .secret = secret});
}

Party::Party(std::unique_ptr<Clock> clock, ledger::Ledger ledger, ledger::DatasetId dataset,
             const privacy::Budget& budget, const Setting& setting)
    : setting_(setting),
      clock_(std::move(clock)),
      ledger_(std::move(ledger)),
      dataset_(dataset),
      budget_(budget),
      entropy_(setting.seed, setting.charter.owners[setting.owner].name, setting.run) {}

Result<std::unique_ptr<Party>> Party::make(const Setting& setting) {
  const std::string& name = setting.charter.owners[setting.owner].name;
  const Account account = TRY(account_of(setting));
  std::unique_ptr<Clock> clock = std::make_unique<SimulatedClock>();
  ledger::Ledger ledger =
      TRY(setting.ledger.empty()
              ? ledger::Ledger::open_volatile(name, *clock, ledger::Simulated{})
              : ledger::Ledger::open(setting.ledger, name, *clock, ledger::Simulated{}));
  const auto dataset =
      TRY(ledger.declare(account.dataset, account.budget, setting.charter.privacy.unit));
  return std::unique_ptr<Party>(
      new Party(std::move(clock), std::move(ledger), dataset, account.budget, setting));
}

size_t Party::place_in(const charter::Charter& job) const {
  const auto is_this = [&](const charter::Owner& owner) { return owner.name == name(); };
  if (setting_.owner < job.owners.size() && is_this(job.owners[setting_.owner]))
    return setting_.owner;  // As in most jobs; there may be a hundred thousand owners.
  const auto found = std::find_if(job.owners.begin(), job.owners.end(), is_this);
  check(found != job.owners.end());
  return static_cast<size_t>(found - job.owners.begin());
}

gate::AnyRecords Party::records() const {
  if (setting_.database) return *setting_.database;
  return gate::Records(setting_.rows);
}

Result<std::unique_ptr<protocol::Owner>> Party::start(const charter::Charter& job) {
  protocol::OwnerSetting own{.charter = job,
                             .place = place_in(job),
                             .records = records(),
                             .ledger = ledger_,
                             .dataset = dataset_,
                             .entropy = entropy_,
                             .threads = setting_.threads,
                             .pilot = setting_.pilot};
  if (job.secure_aggregation) own.key = simulated_key(name());
  if (job.columns_apart()) own.columns = columns();
  return protocol::make_owner(std::move(own));
}

protocol::ColumnsSetting Party::columns() {
  protocol::ColumnsSetting columns{
      .records = setting_.records,
      .training = {.started = SimulatedClock().now(), .seed = setting_.seed}};
  SeededEntropy own(setting_.seed, name() + "'s secret", setting_.run);
  columns.secret = setting_.secret ? *setting_.secret : protocol::draw_secret(own);
  columns.keep = [this](const std::string& file, const std::string& text) {
    files_[file] = text;
    return setting_.keep.empty() ? Result<void>() : write_file(setting_.keep / file, text);
  };
  columns.kept = [this](const std::string& file) {
    const auto found = files_.find(file);
    return Result<std::string>(found == files_.end() ? std::string() : found->second);
  };
  return columns;
}

Result<gate::Gate> Party::open_gate() {
  return gate::Gate::open(records(), TRY(plan::terms_for(setting_.charter, setting_.owner)),
                          ledger_, dataset_, entropy_, setting_.threads);
}

Result<gate::ColumnsGate> Party::open_columns_gate() {
  return gate::ColumnsGate::open(gate::Records(setting_.rows),
                                 TRY(plan::vertical_terms(setting_.charter)), setting_.owner,
                                 ledger_, dataset_);
}

double Party::epsilon_spent() const {
  return ledger_.spent(dataset_).epsilon(budget_.delta_convert);
}

}  // namespace parley::sim
