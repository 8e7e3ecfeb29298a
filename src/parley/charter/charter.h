// A charter: what all parties agree on before a job. Read from TOML, every default filled in, and
// named by the SHA-256 of its canonical JSON, which covers the meaning and not the text.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/charter/protocol.h"
#include "parley/charter/toml/canonical.h"
#include "parley/charter/toml/value.h"
#include "parley/charter/words.h"
#include "parley/data/readers/csv_scan.h"
#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/learn/loss.h"

namespace parley::charter {

/// Public rows, removed from every owner's data. Only the hash counts, not where the file lies.
struct Pilot {
  std::string file;
  Hash sha256{};
  int64_t rows = 0;
  std::string group{};  // a column that names each row's site; empty: rows are one sample
};

/// What `parley data prepare` made of the pilot.
struct Preprocess {
  std::string bundle;
  Hash sha256{};
};

/// The people whose columns lie with different owners (sharing only).
struct Records {
  std::string id;  // column by which owners align their rows
  int64_t count = 0;
  OnMismatch on_mismatch = OnMismatch::kStop;
  int64_t list_max = 0;  // without a dealer: ids that an owner may have; 0 if not given

  uint64_t longest_list() const {
    if (list_max > 0) return static_cast<uint64_t>(list_max);
    return static_cast<uint64_t>(on_mismatch == OnMismatch::kIntersect ? 4 * count : count);
  }
};

struct Model {
  Loss loss = Loss::kSquared;
  double huber_delta = 1;                        // huber: squared up to here, straight beyond
  std::array<double, 2> class_weights = {1, 1};  // of the first and second class; two classes only
  double l2 = 0;                                 // lambda of (lambda/2)|theta|^2, in mean form
  double l1 = 0;  // rule admm: instead of it, lambda of lambda |theta|_1
  bool bias = false;
  double box = 0;  // |theta|_inf <= box
};

struct Privacy {
  Calibration calibration = Calibration::kSound;
  Adjacency adjacency = Adjacency::kReplaceOne;
  std::string unit = "record";                        // or the name of a column
  int64_t unit_records = 1;                           // most records of one unit that are used
  int64_t overlap = 1;                                // kappa: data sets one unit may sit in
  MechanismName mechanism = MechanismName::kLaplace;  // gaussian under sharing and federated
  double max_grad_norm = 0;  // clip of one record's gradient, in the mechanism's norm
  int64_t grid_bits = 24;
  double evaluate = 0.05;   // part of epsilon kept for the evaluation at the end
  double max_row_norm = 0;  // rows are shrunk to it once (federated, sharing, statistics)
  double label_weight = 1;  // of labels beside features (statistics)
  double delta = 0;         // default of Owner::delta
};

struct SecureAggregation {
  int64_t threshold = 0;  // t, Shamir; 0: as it follows (sparse graphs)
  int64_t survivors = 0;  // s: a round with fewer is abandoned
  int64_t colluders = 0;  // c: noise is calibrated to s - c
  Graph graph = Graph::kComplete;
  int64_t repeats = 1;  // aggregations that may fail after owners have paid for them
};

struct Owner {
  std::string name;
  int64_t rows = 0;    // public; under sharing the number of aligned records
  double epsilon = 0;  // for the whole job, evaluation included
  double delta = 0;
  std::optional<SignKey> sign_key{};   // not needed in a simulation
  Addresses address{};                 // where every owner learns; none in a simulation
  double rate = 1;                     // async with declared rates
  std::vector<std::string> columns{};  // sharing
  double max_row_norm = 0;             // sharing
};

struct Learner {
  std::string name;
  Addresses address{};  // none in a simulation
};

struct Network {
  int64_t deadline_s = 60;
  int64_t quorum = 0;  // owners that must answer a round
};

struct Charter {
  std::string name, consortium, purpose;
  int64_t run = 1;
  std::optional<Pilot> pilot{};
  std::optional<Preprocess> preprocess{};
  std::optional<Records> records{};
  data::Schema schema{};
  std::vector<std::string> column_owners{};  // sharing: who holds schema.columns[i]
  std::string target_owner{};                // sharing: who holds the label
  Model model{};
  Protocol protocol{};
  Privacy privacy{};
  std::optional<SecureAggregation> secure_aggregation{};
  std::vector<Owner> owners{};
  Learner learner{};
  Network network{};

  /// Keys that a draft leaves to the forecaster, such as protocol.rounds. Their values above mean
  /// nothing, and they are not in the canonical text.
  std::vector<std::string> undecided{};
  std::string canonical;
  Hash hash{};
  std::filesystem::path folder{};  // where pilot, bundle and owners' table are looked for

  bool complete() const { return undecided.empty(); }
  /// Answers that one owner gives in training.
  int64_t answers() const;
  /// Steps that the learner makes.
  int64_t learner_steps() const { return protocol.one_at_a_time() ? protocol.rounds : answers(); }
  /// Do the owners hold different columns of the same records, and not different records?
  bool columns_apart() const { return records.has_value(); }
  /// Jobs among which every owner splits its budget: with copies one for each learner that asks it.
  int64_t jobs() const;
  /// Is this owner the one that learns from the others' answers and gives none?
  bool learns_from_others(std::string_view owner) const {
    const auto& how = protocol.learners.owner;
    return central() && owner == learner.name &&
           (how == OwnerLearner::kOthersFirst || how == OwnerLearner::kStatistics);
  }
  /// Is there one party that coordinates?
  bool central() const { return !protocol.learners.copies && protocol.learners.graph.empty(); }
};

Result<Charter> read_charter(const std::filesystem::path& file,
                             std::span<const Override> changes = {});

/// `file_name` is for messages; `folder` is where the owners' table is looked for.
Result<Charter> parse_charter(std::string_view toml, const std::string& file_name,
                              const std::filesystem::path& folder,
                              std::span<const Override> changes = {});

/// Rule admm adds no noise: only a simulation runs it, and everything that speaks for an owner, or
/// about what an owner pays, refuses it by this.
Result<void> check_protects(const Charter& charter);

/// The loss with its constants.
learn::Losses loss_of(const Model& model);

/// The clip that rule gram has for rows of max_row_norm, if its charter gives none: R/2 for
/// classes, which is how long gradients at 0 are, R for labels in [-1, 1] (theory (W10)).
double gram_clip(const Charter& charter);

/// Reads the charter's bundle, if it has one, from the first of `folders` that holds it, and puts
/// it into the schema, whose features it makes. Its hash must be the charter's, and it must have
/// been made for the charter's columns and from the charter's pilot. Needed before anything is
/// trained.
Result<void> load_bundle(Charter& charter, std::span<const std::filesystem::path> folders);

/// What public rows there are; rows are null without a [pilot].
struct PublicRows {
  std::shared_ptr<const data::Rows> rows{};
  std::vector<uint32_t> sites{};  // of each row, where [pilot] names a group; else empty
};

/// From the first of `folders` that holds the pilot's file. Its hash must be the charter's. After
/// load_bundle, which makes their features.
Result<PublicRows> load_public_rows(const Charter& charter,
                                    std::span<const std::filesystem::path> folders,
                                    const data::CsvSigns& signs = {});
/// The rows alone.
Result<std::shared_ptr<const data::Rows>> load_pilot(const Charter& charter,
                                                     std::span<const std::filesystem::path> folders,
                                                     const data::CsvSigns& signs = {});

}  // namespace parley::charter
