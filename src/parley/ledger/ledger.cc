#include "parley/ledger/ledger.h"

#include <system_error>
#include <utility>

#include "parley/ledger/simulated.h"
#include "parley/ledger/state.h"
#include "parley/ledger/storage/create.h"

namespace parley::ledger {
namespace {

using privacy::Released;

std::vector<int64_t> add(std::span<const int64_t> sum, std::span<const int64_t> noise) {
  check(sum.size() == noise.size());  // Also when the noise has been used before.
  std::vector<int64_t> noisy(sum.size());
  for (size_t i = 0; i < sum.size(); ++i)
    check(!__builtin_add_overflow(sum[i], noise[i], &noisy[i]));
  return noisy;
}

/// For errors: "round 3", or "evaluation 3".
std::string round_text(const Query& query) {
  const bool answer = query.kind == privacy::ReleaseKind::kAnswer;
  return std::string(answer ? "round" : name_of(query.kind)) + " " + std::to_string(query.round);
}

/// The witness, if there is to be one.
Result<std::optional<Witness>> witness_of(const std::filesystem::path& ledger,
                                          const Keeping& keeping) {
  if (keeping.witness.empty()) return std::optional<Witness>();
  std::error_code failed;
  if (std::filesystem::equivalent(ledger.parent_path(),
                                  std::filesystem::absolute(keeping.witness, failed).parent_path(),
                                  failed))
    return Error{Code::kInvalid,
                 "the witness lies beside the ledger, and would be restored with it",
                 "Let `witness` in the policy's [ledger] name a file at another place.",
                 {.file = keeping.witness.string()}};
  return std::optional(TRY(Witness::open(keeping.witness)));
}

Error is_gone(const std::filesystem::path& ledger, const Witness& witness) {
  return {Code::kIntegrity,
          "is gone: its witness " + witness.file().string() + " has seen " +
              std::to_string(witness.seen()->rows) + " rows of it",
          "Put the newest ledger back, or ask every learner for its transcripts and type: parley "
          "ledger reconcile POLICY TRANSCRIPT",
          {.file = ledger.string()}};
}

/// Where the file really is, so that two links to one ledger are one lock.
Result<std::filesystem::path> resolve(const std::filesystem::path& file) {
  std::error_code failed;
  std::filesystem::path path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(file, failed), failed);
  if (failed || file.empty())
    return Error{Code::kInvalid, "is not a usable path", "Check it.", {.file = file.string()}};
  return path;
}

}  // namespace

Ledger::Ledger(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() {
  if (state_ && state_->witness) static_cast<void>(bool(state_->witness->sync()));
}

Result<Ledger> Ledger::open(const std::filesystem::path& file, const std::string& owner,
                            Clock& clock, const Keeping& keeping, Disk disk) {
  TRY(check_name(owner));
  const std::filesystem::path path = TRY(resolve(file));
  Lock lock = TRY(Lock::take(path));
  auto witness = TRY(witness_of(path, keeping));
  std::error_code unknown;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, unknown))) {
    if (witness && witness->seen() && !keeping.reconciling) return is_gone(path, *witness);
    TRY(create_file(path, owner, clock, disk));
  }
  // Verified by a reader, since a writer would move the log into a damaged file. It stays until the
  // writer has looked: between the two nobody may find more in the log of a writer that was killed.
  Connection reader = TRY(Connection::read(path));
  std::optional<Loaded> since;
  if (keeping.key) since = TRY(load_since_checkpoint(reader, keeping.key->public_key()));
  Loaded loaded = since ? *std::move(since) : TRY(load(reader, [](const Row&) {}));
  if (loaded.owner != owner)
    return Error{Code::kIntegrity,
                 "is the ledger of '" + loaded.owner + "', not of '" + owner + "'",
                 "Check the path in the policy.",
                 {.file = path.string()}};
  Connection db = TRY(Connection::write(path));
  const std::string journal = TRY(db.value("PRAGMA journal_mode=WAL"));
  if (journal != "wal")
    return Error{Code::kFailed,
                 "its disk does not allow a write-ahead log",
                 "Put the ledger on a local disk.",
                 {.file = path.string()}};
  TRY(db.run(disk == Disk::kSynced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
  TRY(db.run("PRAGMA foreign_keys=ON"));
  auto tables = std::make_unique<Tables>(std::move(db));
  TRY(tables->expect_head(loaded.chain));
  Ledger ledger(std::unique_ptr<State>(new State{&clock, std::move(lock), std::move(tables),
                                                 std::move(loaded.chain), loaded.key, keeping,
                                                 std::move(witness)}));
  if (!keeping.reconciling) TRY(ledger.ask_witness());
  if (keeping.key && !since && ledger.state_->chain.size() >= keeping.checkpoint_rows)
    TRY(ledger.add_checkpoint());
  return ledger;
}

Result<Ledger> Ledger::open(const std::filesystem::path& file, const std::string& owner,
                            Clock& clock, const Keeping& keeping) {
  return open(file, owner, clock, keeping, Disk::kSynced);
}

Result<Ledger> Ledger::open(const std::filesystem::path& file, const std::string& owner,
                            Clock& clock, const Simulated&) {
  return open(file, owner, clock, {}, Disk::kUnsynced);
}

Result<Ledger> Ledger::open_volatile(const std::string& owner, Clock& clock, const Simulated&) {
  TRY(check_name(owner));
  return Ledger(
      std::unique_ptr<State>(new State{&clock, std::nullopt, std::make_unique<RowList>(),
                                       Chain(origin_of(kFormat, owner, clock.now(), Hash{}))}));
}

Result<std::optional<Released>> Ledger::stored(const Query& query) const {
  if (query.round == 0 || query.round > last_round(query.charter, query.kind))
    return std::optional<Released>();
  if (!state_->chain.remembers(query.charter, query.kind, query.round)) TRY(recall());
  const int64_t id = state_->chain.row_of(query.charter, query.kind, query.round);
  const std::optional<Row> row = TRY(state_->store->find_row(id));
  const std::string round = round_text(query);
  if (!row)
    return Error{Code::kIntegrity,
                 "the answer of " + round + " is gone from the ledger",
                 "Stop, and verify the ledger.",
                 {.file = state_->store->file()}};
  if (!state_->chain.is_paid(*row))
    return Error{Code::kIntegrity,
                 "the answer of " + round + " is not the one that was paid",
                 "Stop, and verify the ledger.",
                 {.file = state_->store->file()}};
  if (row->query != query.query)
    return Error{Code::kIntegrity, round + " was answered for another query",
                 "A round is answered once. Send the same query again, or a new charter."};
  return std::optional<Released>(Released(values_of(row->answer), state_->chain.receipt(*row)));
}

Result<Released> Ledger::settle(DatasetId dataset, const Query& query, const privacy::Cost& cost,
                                std::string event, std::span<const int64_t> sum,
                                std::span<const int64_t> noise) {
  if (auto replay = TRY(stored(query))) return *std::move(replay);
  std::vector<int64_t> noisy = add(sum, noise);
  privacy::Receipt receipt = TRY(charge(dataset, query, cost, std::move(event), noisy));
  return Released(std::move(noisy), std::move(receipt));
}

Result<privacy::Masked> Ledger::settle_share(DatasetId dataset, const Query& query,
                                             const privacy::Cost& cost, std::string event,
                                             std::vector<int64_t> masked) {
  privacy::Receipt receipt = TRY(charge(dataset, query, cost, std::move(event), masked));
  return privacy::Masked(std::move(masked), std::move(receipt));
}

std::vector<int64_t> Ledger::under_mask(std::span<const int64_t> sum,
                                        std::span<const int64_t> noise,
                                        std::span<const uint64_t> mask) {
  check(sum.size() == noise.size() && sum.size() == mask.size());  // Also when either was used.
  std::vector<int64_t> masked(sum.size());
  for (size_t i = 0; i < sum.size(); ++i)
    masked[i] = static_cast<int64_t>(static_cast<uint64_t>(sum[i]) +
                                     static_cast<uint64_t>(noise[i]) + mask[i]);
  return masked;
}

Result<privacy::Receipt> Ledger::charge(DatasetId dataset, const Query& query,
                                        const privacy::Cost& cost, std::string event,
                                        std::span<const int64_t> leaves) {
  Chain& chain = state_->chain;
  Store& store = *state_->store;
  const int64_t id = static_cast<int64_t>(dataset);
  if (const uint32_t last = last_round(query.charter, query.kind); query.round != last + 1)
    return Error{Code::kIntegrity, round_text(query) + " is out of order",
                 "The next one of this charter is " + std::to_string(last + 1) + "."};
  if (const int64_t other = chain.dataset_of(query.charter); other != 0 && other != id)
    return Error{Code::kPolicy,
                 "this charter has been charged to data set '" + chain.dataset(other).name + "'",
                 "Let the policy name that data set again, or agree on a new charter."};
  TRY(chain.is_allowed(query.charter));
  TRY(catch_up());
  Row row;
  TRY(store.in_transaction([&]() -> Result<void> {
    TRY(store.expect_head(chain));
    TRY(chain.can_afford(id, cost, 1));
    row = sealed(chain, *state_->clock,
                 {.kind = std::string(name_of(query.kind)),
                  .dataset = id,
                  .charter = query.charter,
                  .round = query.round,
                  .query = query.query,
                  .event = std::move(event),
                  .track = cost.track == privacy::Track::kPure ? "pure" : "zcdp",
                  .cost = cost.amount + 0.0,  // SQLite does not keep the sign of a zero.
                  .delta = cost.delta + 0.0,
                  .answer = bytes_of(leaves)});
    *chain.accepts(row);
    return store.insert(row);
  }));
  chain.extend(row);
  tell_witness();
  return chain.receipt(row);
}

Result<void> Ledger::can_afford(DatasetId dataset, const privacy::Cost& cost, uint32_t times,
                                const std::optional<privacy::Cost>& then) const {
  return state_->chain.can_afford(static_cast<int64_t>(dataset), cost, times, then);
}

privacy::Spent Ledger::spent(DatasetId dataset) const {
  return state_->chain.dataset(static_cast<int64_t>(dataset)).spent;
}

privacy::Budget Ledger::budget(DatasetId dataset) const {
  return state_->chain.dataset(static_cast<int64_t>(dataset)).budget;
}

std::string Ledger::name(DatasetId dataset) const {
  return state_->chain.dataset(static_cast<int64_t>(dataset)).name;
}

std::optional<DatasetId> Ledger::find(const std::string& dataset) const {
  const Dataset* known = state_->chain.find(dataset);
  return known ? std::optional(DatasetId{known->id}) : std::nullopt;
}

std::optional<DatasetId> Ledger::dataset_of(const Hash& charter) const {
  const int64_t id = state_->chain.dataset_of(charter);
  return id == 0 ? std::nullopt : std::optional(DatasetId{id});
}

size_t Ledger::missing() const { return state_->chain.missing().size(); }

uint32_t Ledger::last_round(const Hash& charter, privacy::ReleaseKind kind) const {
  return state_->chain.last_round(charter, kind);
}

Hash Ledger::head() const { return state_->chain.head(); }

}  // namespace parley::ledger
