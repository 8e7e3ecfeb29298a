// The ledger: an owner's durable, hash-chained record of every charge and the answer it paid for,
// and the only maker of a Released or a Masked.
//
// One transaction per answer: check the budget, add the noise, insert charge and answer, commit;
// only then does the answer exist for anyone else. What left never exceeds what is recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/clock.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/result.h"
#include "parley/privacy/budget/budget.h"
#include "parley/privacy/flow.h"
#include "parley/privacy/mechanisms.h"

namespace parley::ledger {

class Chain;
enum class Disk;
struct Decision;  // events.h
struct SourceOf;
struct Simulated;  // simulated.h, which nothing that serves a real owner includes

/// Names one release of one job. Rounds are 1, 2, 3, ... for each charter and kind.
struct Query {
  Hash charter{};
  uint32_t round = 0;
  Hash query{};  // SHA-256 of the query as received
  privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer;
};

/// An answer that left and came back: its receipt, which the caller has found to be signed by this
/// owner, and its numbers.
struct Returned {
  privacy::Receipt receipt;
  std::vector<int64_t> values;
};

/// What restore() did with them.
struct Restoration {
  size_t known = 0;   // were in the ledger
  size_t booked = 0;  // have been forgotten, and are booked again in their place
  size_t beside = 0;  // the same, where another answer had taken the place: both are paid
  size_t lost = 0;    // payments for sums before one of these, which reached nobody: booked too
};

/// Where the records of a data set lie.
struct DataSource {
  std::string is{};             // for people and for comparison: "csv /data/loans.csv"
  std::vector<Hash> digests{};  // of how files or tables begin; the ledger keeps them under a key
};

/// As the ledger with this key keeps it.
SourceOf kept(const Hash& key, const DataSource& source);

/// How a ledger is kept; what is left out is not done.
struct Keeping {
  /// The owner's. Signs checkpoints, so that opening need not read the whole ledger again.
  std::optional<SigningKey> key{};
  /// Rows between checkpoints; more where the ledger has many charters.
  int64_t checkpoint_rows = 10'000;
  /// A file at another place, told of every row: an older copy of the ledger is not opened.
  std::filesystem::path witness{};
  /// Opens an older copy nevertheless, to book what it has forgotten; then is_reconciled().
  bool reconciling = false;
};

/// A data set of one ledger, as declare() returned it.
enum class DatasetId : int64_t {};

/// One writer, one thread; not to be used in a forked child. Cannot be copied: a copy would double
/// the budget.
class Ledger {
 public:
  /// Opens the ledger of `owner`, or makes it, and locks it for as long as the object lives.
  /// Verifies the whole chain first or, where the owner's key has signed a checkpoint, all after
  /// the last one. A failed open changes nothing, and no existing file is ever replaced.
  static Result<Ledger> open(const std::filesystem::path& file, const std::string& owner,
                             Clock& clock, const Keeping& keeping = {});

  /// The same for simulation: what is written may be lost with the machine.
  static Result<Ledger> open(const std::filesystem::path& file, const std::string& owner,
                             Clock& clock, const Simulated&);

  /// The same in memory: nothing is kept, and a run replays, receipts included.
  static Result<Ledger> open_volatile(const std::string& owner, Clock& clock, const Simulated&);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  /// Declares a data set, its lifetime budget and whom it protects: "record", or the column that
  /// names people; empty where the caller does not know. The same again changes nothing; another
  /// budget or unit is refused (kPolicy) once there is a charge, and so are another source, and one
  /// that is known by another name.
  Result<DatasetId> declare(const std::string& dataset, const privacy::Budget& budget,
                            const std::string& unit = "record",
                            const std::optional<DataSource>& source = std::nullopt);

  /// Lets a data set, also a new one, read a source that declare() refuses, because a person
  /// decided so.
  Result<void> accept_source(const std::string& dataset, const privacy::Budget& budget,
                             const DataSource& source, const std::string& by,
                             const std::string& reason);

  /// Raises the budget of a data set that has been charged, because a person decided so. Lowering
  /// it, or moving it between its tracks, is refused (kPolicy).
  Result<void> raise(const std::string& dataset, const privacy::Budget& budget);

  /// Chains what a person has decided about a charter. The same word again is nothing. Under one
  /// that was refused or withdrawn nothing is paid; what left is still replayed.
  Result<void> decide(DatasetId dataset, const Hash& charter, const Decision& decision);
  bool is_approved(const Hash& charter) const;
  /// The last word about a charter; nullptr if there was none. Good until the next row.
  const Decision* decision(const Hash& charter) const;
  /// kPolicy, with who and why, if the last word was no.
  Result<void> is_allowed(const Hash& charter) const;

  /// The stored answer of this query, if there is one; kIntegrity if its round was answered for
  /// another query.
  Result<std::optional<privacy::Released>> stored(const Query& query) const;

  /// Pays for one release: `noise` is what is charged and what is added. A repeated query gets the
  /// stored answer for nothing, and the noise is wiped unused. A refusal records nothing.
  template <privacy::ListedMechanism M>
  Result<privacy::Released> pay(DatasetId dataset, const Query& query,
                                privacy::Bounded<typename M::Norm> sum, privacy::Drawn<M> noise) {
    const M& mechanism = noise.mechanism();
    return settle(dataset, query, mechanism.cost(sum.sensitivity()),
                  mechanism.event(sum.sensitivity()), sum.sum_, noise.noise_);
  }

  /// Pays for this owner's part of a sum: charged is what the sum of all reveals. `mask` goes on
  /// before anything is recorded, so that neither the ledger nor its caller ever holds the part
  /// without it. Nothing is replayed: another sum, also of the same round, is another payment with
  /// other noise, for two sums over different owners differ by one owner's part.
  template <privacy::SharedMechanism M>
  Result<privacy::Masked> pay_share(DatasetId dataset, const Query& query,
                                    privacy::Bounded<typename M::Norm> sum, privacy::Drawn<M> noise,
                                    privacy::Mask mask) {
    const M& mechanism = noise.mechanism();
    return settle_share(dataset, query, mechanism.cost(sum.sensitivity()),
                        mechanism.event(sum.sensitivity()),
                        under_mask(sum.sum_, noise.noise_, mask.words_));
  }

  /// Pays for one round of a joint sum (sharing): its noise is dealt by a party without data, or
  /// added by all owners, and no number of it leaves by this row, only `what_left`, a digest that
  /// tells nothing.
  Result<privacy::Released> pay_dealt(DatasetId dataset, const Query& query,
                                      const privacy::Cost& cost, const std::string& event,
                                      std::span<const int64_t> what_left) {
    const std::vector<int64_t> nothing(what_left.size());
    return settle(dataset, query, cost, event, what_left, nothing);
  }

  /// Would `cost`, `times` times, and `then` once after them, fit what is left? Asked before a job
  /// starts, so that one that cannot be paid to its end is refused at no cost.
  Result<void> can_afford(DatasetId dataset, const privacy::Cost& cost, uint32_t times,
                          const std::optional<privacy::Cost>& then = std::nullopt) const;

  /// Recognises a receipt that this owner has signed. One whose row is not here proves that this
  /// ledger is an older copy: that is chained, kIntegrity, and nothing is paid before restore().
  Result<void> recognise(DatasetId dataset, const Hash& charter, const privacy::Receipt& receipt);

  /// Books what an older copy has forgotten, from what left, in the order in which it left; all or
  /// nothing. Also beyond the budget, for it is spent. kIntegrity where a part is left out, but for
  /// parts of sums: those of one job cost the same, so the next receipt tells what they cost, and
  /// nothing of them is ever replayed.
  Result<Restoration> restore(DatasetId dataset, const Hash& charter,
                              std::span<const Returned> returned);

  privacy::Spent spent(DatasetId dataset) const;
  privacy::Budget budget(DatasetId dataset) const;
  std::string name(DatasetId dataset) const;
  std::optional<DatasetId> find(const std::string& dataset) const;
  /// The data set that a charter has been charged to, if it has.
  std::optional<DatasetId> dataset_of(const Hash& charter) const;
  /// What peers hold receipts of and this ledger has forgotten: how many rows.
  size_t missing() const;
  /// The last round of this charter that was answered; 0 if none was.
  uint32_t last_round(const Hash& charter,
                      privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer) const;
  /// Hash of the last row, which vouches for all rows before it.
  Hash head() const;

  /// Tells the witness that this ledger is the one that counts, once it has the last charge that
  /// the witness has seen; kIntegrity before.
  Result<void> is_reconciled();

 private:
  struct State;
  explicit Ledger(std::unique_ptr<State> state);
  static Result<Ledger> open(const std::filesystem::path& file, const std::string& owner,
                             Clock& clock, const Keeping& keeping, Disk disk);
  template <class Work>
  Result<void> append(const Work& work);
  Result<privacy::Released> settle(DatasetId dataset, const Query& query, const privacy::Cost& cost,
                                   std::string event, std::span<const int64_t> sum,
                                   std::span<const int64_t> noise);
  Result<privacy::Masked> settle_share(DatasetId dataset, const Query& query,
                                       const privacy::Cost& cost, std::string event,
                                       std::vector<int64_t> masked);
  /// Modulo 2^64.
  static std::vector<int64_t> under_mask(std::span<const int64_t> sum,
                                         std::span<const int64_t> noise,
                                         std::span<const uint64_t> mask);
  /// The receipt of a charge for what `leaves`, once it is on disk.
  Result<privacy::Receipt> charge(DatasetId dataset, const Query& query, const privacy::Cost& cost,
                                  std::string event, std::span<const int64_t> leaves);

  // ledger_keep.cc
  Result<void> catch_up();
  void tell_witness();
  Result<void> ask_witness() const;
  Result<void> add_checkpoint();
  Result<void> recall() const;
  Result<bool> knows(const Hash& charter, const privacy::Receipt& receipt) const;

  std::unique_ptr<State> state_;
};

}  // namespace parley::ledger
