// [privacy] and [secure_aggregation]: the promise to every record, and the numbers behind it.
#include <algorithm>
#include <cmath>
#include <variant>

#include "parley/charter/available.h"
#include "parley/charter/sections.h"
#include "parley/data/transforms/bounds_bundle.h"

namespace parley::charter {
namespace {

/// Rules whose sensitivity follows from short rows instead of clipped gradients.
bool uses_row_norm(const Charter& charter) {
  const Protocol& p = charter.protocol;
  return charter.columns_apart() || p.as<Federated>() != nullptr || p.statistics();
}

/// Squares have no Lipschitz constant: their K local steps need the clamped slope (theory (F2)).
bool uses_grad_norm(const Charter& charter) {
  return !uses_row_norm(charter) ||
         (charter.protocol.as<Federated>() != nullptr && charter.model.loss != Loss::kLogistic);
}

void check_mechanism(Table& t, const Charter& charter, bool secure) {
  const MechanismName mechanism = charter.privacy.mechanism;
  const std::string found = ", found " + std::string(name_of(mechanism));
  if (mechanism == MechanismName::kLaplace && secure)
    t.fail("mechanism", "must be gaussian or skellam under secure aggregation" + found,
           "Shares of Laplace noise do not add up to Laplace noise: mechanism = \"gaussian\".");
  if (mechanism == MechanismName::kSkellam && !secure)
    t.fail("mechanism", "must be laplace or gaussian without [secure_aggregation]" + found,
           "Skellam noise is for shares: take mechanism = \"gaussian\".");
  if (charter.columns_apart() && mechanism != MechanismName::kGaussian)
    t.fail("mechanism", "must be gaussian for protocol sharing" + found,
           "Take mechanism = \"gaussian\".");
}

void check_calibration(Table& t, const Charter& charter) {
  const Protocol& p = charter.protocol;
  const bool paper = charter.privacy.calibration == Calibration::kPaper;
  if (!paper && p.as<Admm>() != nullptr)
    t.fail("calibration", "must be \"paper\" for rule admm, which has no privacy",
           "Take rule = \"gradients\", or calibration = \"paper\" in a simulation.");
  if (paper && p.as<Vertical>() != nullptr)
    t.fail("calibration", "\"paper\" is for rule admm only under protocol sharing",
           "Take calibration = \"sound\".");
  if (paper && p.as<Sync>() != nullptr && p.rounds == 1)
    t.fail("calibration", "\"paper\" counts points, not answers, and needs rounds of at least 2",
           "Give protocol.rounds the paper's T.");
  if (!paper && p.learners.owner == OwnerLearner::kExact)
    t.fail("calibration",
           "must be \"paper\" for owner_learner = \"exact\": the learner's questions give its own "
           "gradients away",
           "Take owner_learner = \"own_noise\" or \"others_first\".");
}

/// As long as a row can be by public bounds: those of rule gram are moved to [-1, 1].
double longest_row(const Charter& charter) {
  if (charter.protocol.rule() == Rule::kGram) return data::longest_by_bounds(charter.schema);
  return data::longest_encoded(charter.schema);
}

/// Of the Gram matrix, and by default the clip of the gradients after it: what those at 0 may be
/// long for classes, half of it for numbers (theory (W10)).
void read_gram_bounds(Table& t, Charter& charter) {
  Privacy& privacy = charter.privacy;
  constexpr std::string_view kHint =
      "Rows are shrunk to this length for the Gram matrix, for example max_row_norm = 4.0.";
  const Range range = at_least(1e-12).up_to(1e12);
  if (charter.preprocess)  // A bundle is not read with the charter.
    return t.required("max_row_norm", privacy.max_row_norm, range, kHint);
  privacy.max_row_norm = longest_row(charter);
  t.optional("max_row_norm", privacy.max_row_norm, range, kHint);
}

void read_gram_clip(Table& t, Charter& charter) {
  Privacy& privacy = charter.privacy;
  privacy.max_grad_norm = gram_clip(charter);
  t.optional("max_grad_norm", privacy.max_grad_norm, at_least(1e-30).up_to(1e30),
             "Give the clip of one record's gradient, for example max_grad_norm = 8.0.");
}

void read_clip(Table& t, Charter& charter) {
  Privacy& privacy = charter.privacy;
  if (charter.protocol.gram()) read_gram_bounds(t, charter);
  if (charter.protocol.rule() == Rule::kGram) return read_gram_clip(t, charter);
  if (charter.protocol.without_dealer()) {  // Cells bound rows, whatever an owner does.
    if (t.has("max_row_norm")) fail_given_norm(t);
    return;
  }
  if (uses_row_norm(charter))
    t.required("max_row_norm", privacy.max_row_norm, at_least(1e-30).up_to(1e30),
               "Rows are shrunk to this length, for example max_row_norm = 1.0.");
  if (charter.protocol.statistics() && !charter.columns_apart())
    t.optional("label_weight", privacy.label_weight, at_least(1e-6).up_to(1e6),
               "What labels are multiplied with beside features, for example label_weight = 8.0.");
  if (!uses_grad_norm(charter)) return;
  t.forecast("max_grad_norm", privacy.max_grad_norm, at_least(1e-30).up_to(1e30),
             "Give the clip of one record's gradient, for example max_grad_norm = 8.0.");
  removed(t, "clip", "what is clipped is always a record's gradient");
}

/// Is only a sum over owners opened, whatever the charter says? One owner has nobody to add up
/// with: under rule gram it gives its matrix with noise of its own.
bool always_sums(const Charter& charter) {
  const Protocol& protocol = charter.protocol;
  return protocol.as<Federated>() != nullptr || protocol.distance() ||
         (protocol.rule() == Rule::kGram && charter.owners.size() != 1);
}

/// Up to this many owners all are neighbours, by default.
constexpr int64_t kCompleteMax = 50;

/// Consistent (theory (F6)): c >= 1 since everyone knows its own share, t > c, s >= t.
void read_shares(Table& t, SecureAggregation& s, int64_t owners, const Protocol& protocol) {
  const auto count = [&](int64_t low) {
    return at_least(static_cast<double>(low)).up_to(static_cast<double>(owners));
  };
  s.survivors = usual_survivors(owners);
  s.colluders = std::max<int64_t>(1, owners / 5);
  // Of a member's neighbours, who are one fewer than the survivors.
  s.threshold = std::max(s.colluders + 1, std::min((2 * owners + 2) / 3, s.survivors - 1));
  // Room for a second sum would halve what the one gets.
  if (protocol.distance() || protocol.rule() == Rule::kGram) s.repeats = 0;
  s.graph = owners <= kCompleteMax ? Graph::kComplete : Graph::kSparse;
  if (owners < 2) t.fail("survivors", "need at least 2 owners to add up", "Add owners.");
  t.optional("colluders", s.colluders, count(1),
             "Owners that may pool what they know, at least 1.");
  s.threshold = std::max(s.threshold, (owners - 1 + s.colluders) / 2 + 1);
  t.optional("threshold", s.threshold, count(s.colluders + 1),
             "More than the colluders, below the survivors.");
  t.optional("survivors", s.survivors, count(std::max(s.threshold, s.colluders + 1)),
             "At least the threshold, at most all owners.");
  t.optional("graph", s.graph, Anything{}, "For example graph = \"complete\".");
  if (s.graph == Graph::kComplete && owners > kCompleteMax)
    t.fail("graph", "= \"complete\" is for at most 50 owners, found " + std::to_string(owners),
           "Take graph = \"sparse\".");
  t.optional("repeats", s.repeats, at_least(0).up_to(1e6),
             "Aggregations beyond rounds that epsilon has room for, for example repeats = 1.");
  removed(t, "word_bits", "words always have 64 bits");
  if (s.graph == Graph::kSparse && !t.has("threshold")) s.threshold = 0;  // The graph's own.
}

/// The larger slope of two classes at theta = 0.
double slope_at_zero(const learn::Losses& loss) {
  return std::visit(
      [](const auto& known) {
        return std::max(std::fabs(known.slope(0, 1)), std::fabs(known.slope(0, -1)));
      },
      loss);
}

}  // namespace

int64_t usual_survivors(int64_t owners) {
  return owners <= kCompleteMax ? (4 * owners + 4) / 5 : (9 * owners + 9) / 10;
}

double gram_clip(const Charter& charter) {
  const double row = charter.privacy.max_row_norm;
  if (const learn::Losses loss = loss_of(charter.model); learn::two_classes(loss))
    return row * slope_at_zero(loss);
  const data::Target& target = charter.schema.target;
  return row *
         std::max(std::abs(target.low - target.center), std::abs(target.high - target.center)) /
         target.scale;
}

void read_privacy(Table& root, Charter& charter) {
  Privacy& privacy = charter.privacy;
  const Protocol& protocol = charter.protocol;
  const bool sums = always_sums(charter) || root.has("secure_aggregation");
  if (charter.columns_apart() || sums) privacy.mechanism = MechanismName::kGaussian;
  if (sums) privacy.evaluate = 0;
  if ((charter.columns_apart() || protocol.one_at_a_time()) && root.has("secure_aggregation"))
    root.fail("secure_aggregation", "belongs to protocols sync and federated",
              "Remove [secure_aggregation].");
  root.table("privacy", [&](Table& t) {
    t.optional("calibration", privacy.calibration, Anything{}, "Take calibration = \"sound\".");
    check_calibration(t, charter);
    t.optional("adjacency", privacy.adjacency, Anything{}, "Take adjacency = \"replace_one\".");
    t.optional("unit", privacy.unit, any_text, "\"record\", or a column such as \"member_id\".");
    t.optional("unit_records", privacy.unit_records, at_least(1).up_to(1e6),
               "The most records of one unit that are used, for example unit_records = 1.");
    t.optional("overlap", privacy.overlap, at_least(1).up_to(1e4),
               "How many data sets may hold the same unit, for example overlap = 1.");
    constexpr std::string_view kMechanism = "For example mechanism = \"laplace\".";
    if (root.undecided("protocol.name") && !sums)
      t.forecast("mechanism", privacy.mechanism, Anything{}, kMechanism);
    else
      t.optional("mechanism", privacy.mechanism, Anything{}, kMechanism);
    check_mechanism(t, charter, sums);
    read_clip(t, charter);
    // Below 16 bits the rounding of 4096 coordinates could exceed the clip
    // (learn/kernel/lattice.h).
    t.optional("grid_bits", privacy.grid_bits, at_least(16).up_to(32), "Take grid_bits = 24.");
    t.optional("evaluate", privacy.evaluate, at_least(0).up_to(0.9),
               "The part of epsilon kept for the evaluation, for example evaluate = 0.05.");
    if (protocol.learners.copies && protocol.statistics() && privacy.evaluate > 0)
      t.fail("evaluate",
             "must be 0 with copies of statistics: every owner would ask to evaluate another model",
             "Add evaluate = 0.0.");
    if (protocol.distance() && privacy.evaluate > 0)
      t.fail("evaluate", "must be 0 for rule distance, which trains no model", "Leave it out.");
    if (protocol.learners.publish && privacy.evaluate > 0)
      t.fail("evaluate", "must be 0 with protocol.publish: it would evaluate the others' model",
             "Take evaluate = 0.0.");
    t.optional("delta", privacy.delta, at_least(0).below(1),
               "The delta of owners that give none, for example delta = 1e-6.");
    t.leave_out("delta");  // Every owner's own delta counts.
  });
}

void read_secure_aggregation(Table& root, Charter& charter) {
  const auto read = [&](Table& t) {
    read_shares(t, charter.secure_aggregation.emplace(),
                static_cast<int64_t>(charter.owners.size()), charter.protocol);
  };
  if (always_sums(charter))
    root.table("secure_aggregation", read);
  else if (charter.protocol.as<Sync>() != nullptr)
    root.table_if_given("secure_aggregation", read);
  if (charter.protocol.gram_after_alarm() && !charter.secure_aggregation)
    root.fail("secure_aggregation",
              "is missing: with on_alarm = \"" + std::string(name_of(charter.protocol.on_alarm())) +
                  "\" owners add up a Gram matrix",
              "Add the table, or take on_alarm = \"ask\" or \"stop\".");
  const auto& how = charter.protocol.learners.owner;
  const bool apart = !charter.central() || (how && how != OwnerLearner::kOwnNoise);
  if (charter.secure_aggregation && apart)
    root.fail("secure_aggregation", "is for one learner that sees sums of all owners",
              "Remove it, or protocol.copies, protocol.graph and protocol.owner_learner.");
}

}  // namespace parley::charter
