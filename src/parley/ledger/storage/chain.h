// The hash chain of a ledger: which row may come next, and the totals over all rows so far.
// Opening, verifying and writing use these same rules, so nothing is written that verification
// would refuse.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/ledger/events.h"

namespace parley::ledger {

/// A row that a peer has our signature for, and where it belongs.
struct LostRow {
  Hash charter{};
  int64_t round = 0;
  Missing row{};
};

class Chain {
 public:
  /// `origin` is the hash of the ledger's own row, which the first row follows.
  explicit Chain(const Hash& origin, int64_t format = 2)
      : origin_(origin), format_(format), head_(origin) {}

  /// Adds a data set, or gives a known one another budget. A 'budget' row that says the same must
  /// follow.
  void declare(Dataset dataset);

  /// Whether `row` may come next. kIntegrity, with the row in `where`, if not.
  Result<void> accepts(const Row& row) const;

  /// Adds a row that was accepted.
  void extend(const Row& row);

  /// Whether every data set is what its last 'budget' row says, and nothing is announced that did
  /// not follow. True after every transaction.
  Result<void> is_complete() const;

  /// kIntegrity while peers have receipts of rows that are missing here.
  Result<void> is_current() const;

  /// Would `cost`, `times` times, and `then` once after them stay within the budget?
  /// kBudgetExhausted with the numbers if not; kIntegrity while rows are missing.
  Result<void> can_afford(int64_t dataset, const privacy::Cost& cost, uint32_t times,
                          const std::optional<privacy::Cost>& then = std::nullopt) const;

  /// What the owner says about an answer: the same when it is replayed, whatever was charged later.
  privacy::Receipt receipt(const Row& answer) const;

  /// All that the rows so far amount to, as one text, but for the history of jobs: of each, how
  /// many rounds were answered, and the last of them.
  std::string state() const;
  /// What the owner's key signs of a checkpoint in `row`, whose answer is such a text.
  Bytes checkpoint_bytes(const Row& row) const;
  /// Goes on from a checkpoint, which was found to be signed, as if all rows before it had been
  /// added. The data sets are declared already. False if it does not say a state.
  bool resume(const Row& checkpoint);

  /// May data set `name`, also a new one, read this source? kPolicy if the ledger knows the source
  /// by another name, or the data set by another source: then a person decides. Versions up to 0.2
  /// compared texts.
  enum class Comparing { kPlaces, kText };
  Result<void> may_read(const std::string& name, const SourceOf& source,
                        Comparing comparing = Comparing::kPlaces) const;
  /// Whether data set `id` is known to read exactly this.
  bool reads(int64_t id, const SourceOf& source) const;

  const Hash& origin() const { return origin_; }
  int64_t format() const { return format_; }
  int64_t size() const { return size_; }
  const Hash& head() const { return head_; }
  uint32_t last_round(const Hash& charter,
                      privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer) const;
  /// Whether a round that was answered is remembered. After resume() older ones are not; the ledger
  /// still has their rows.
  bool remembers(const Hash& charter, privacy::ReleaseKind kind, uint32_t round) const;
  /// Whether `answer`, of a round that is remembered, is the row that was paid. Rows from before a
  /// checkpoint have not been read otherwise.
  bool is_paid(const Row& answer) const;
  /// The row of a round that is remembered.
  int64_t row_of(const Hash& charter, privacy::ReleaseKind kind, uint32_t round) const;
  /// The one data set that a charter has been charged to; 0 before its first charge.
  int64_t dataset_of(const Hash& charter) const;
  const Dataset& dataset(int64_t id) const;
  const Dataset* find(const std::string& name) const;
  bool is_charged(int64_t dataset) const { return accounts_.at(dataset).charged; }
  std::vector<Dataset> datasets() const;

  /// The last word of a person about a charter; nullptr if there was none.
  const Decision* decision(const Hash& charter) const;
  bool is_approved(const Hash& charter) const {
    const Decision* last = decision(charter);
    return last && last->what == Decision::What::kApproved;
  }
  /// kPolicy if the last word was no.
  Result<void> is_allowed(const Hash& charter) const;
  /// The row of the last charge, its hash as peers know it; 0 before the first.
  int64_t last_charge() const { return last_charge_; }
  const Hash& last_charge_hash() const { return last_charge_hash_; }
  /// The last checkpoint; 0 if there is none.
  int64_t checkpoint() const { return checkpoint_; }
  size_t jobs() const { return jobs_.size(); }
  /// The row that stands for one of this hash, which an older copy had forgotten; 0 if none does.
  int64_t restored(const Hash& chain) const;
  /// The same the other way: the hash that peers know this row by.
  const Hash& known_as(const Row& row) const;
  /// What peers have receipts of and this ledger has not, by hash. Until it is empty nothing is
  /// paid.
  const std::map<Hash, LostRow>& missing() const { return missing_; }

 private:
  struct Account {
    Dataset dataset;
    bool charged = false;
    std::optional<Dataset> declared{};  // by the last 'budget' row
    std::vector<SourceOf> sources{};    // that it has read since its first charge
  };
  /// When a round was answered.
  struct Moment {
    privacy::Spent spent{};    // on the charter
    double delta_convert = 0;  // of the budget in force
    Hash job{};                // of all questions and answers so far of its kind
    int64_t row = 0;
  };
  /// The rounds of one kind. Of the first `resumed`, those before a checkpoint, only the last has
  /// its moment and the hash of its row.
  struct Rounds {
    uint32_t resumed = 0;
    Moment last_resumed{};
    Hash row_resumed{};
    std::vector<Moment> after{};
    Hash last_row{};
    uint32_t last() const { return resumed + static_cast<uint32_t>(after.size()); }
    const Moment& at(uint32_t round) const {
      return round == resumed ? last_resumed : after.at(round - 1 - resumed);
    }
  };
  struct Job {
    int64_t dataset = 0;
    privacy::Spent spent;
    std::array<Rounds, privacy::kReleaseKinds> rounds;  // by kind
  };
  /// A 'restored' row, whose charge must be the next.
  struct Announced {
    int64_t dataset = 0;
    Hash query{};
    LostRow lost{};
    std::optional<Hash> job{};
  };

  static size_t place_of(privacy::ReleaseKind kind) { return static_cast<size_t>(kind); }
  Result<void> accepts_budget(const Row& row, const Account& account) const;
  Result<void> accepts_charge(const Row& row, const Account& account) const;
  Result<void> accepts_note(const Row& row) const;
  Result<void> accepts_checkpoint(const Row& row, const Checkpoint& checkpoint) const;
  bool is_announced(const Row& row) const;
  void extend_note(const Row& row);
  void extend_charge(const Row& row);

  Hash origin_;
  int64_t format_;
  int64_t size_ = 0;
  Hash head_;
  int64_t last_charge_ = 0, checkpoint_ = 0;
  Hash last_charge_hash_{};
  std::map<int64_t, Account> accounts_;
  std::map<Hash, Job> jobs_;            // by charter
  std::map<Hash, Decision> decisions_;  // by charter
  std::map<Hash, LostRow> missing_;     // by the row's hash
  std::map<Hash, int64_t> restored_;    // the same, to the row that stands for it
  std::map<int64_t, Hash> stands_for_;  // and back
  std::optional<Announced> announced_{};
};

}  // namespace parley::ledger
