#include "parley/plan/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "parley/base/math/number.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/plan/noise.h"
#include "parley/plan/sums/distance.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/vertical_terms.h"

namespace parley::plan {
namespace {

using charter::Average, charter::Calibration, charter::Charter, charter::Contact, charter::Loss,
    charter::MechanismName, charter::Model, charter::OnMismatch, charter::Output, charter::Owner,
    charter::Privacy, charter::Protocol, charter::Rule, charter::Weights;

constexpr size_t kListed = 12;  // More owners than this are summed up.

std::string about(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

std::string count(int64_t number, const std::string& thing) {
  return grouped(number) + " " + thing + (number == 1 ? "" : "s");
}

template <class Word>
std::string word(Word value) {
  return std::string(charter::name_of(value));
}

bool is_decided(const Charter& charter, std::string_view key) {
  for (const std::string& undecided : charter.undecided)
    if (undecided == key) return false;
  return true;
}

/// The value of a key that a draft may have left out.
std::string decided(const Charter& charter, std::string_view key, const std::string& value) {
  return is_decided(charter, key) ? value : "(undecided)";
}

/// Without a dealer: does one of the owners pass on the letters?
bool office_is_owner(const Charter& charter) {
  return charter.protocol.without_dealer() &&
         std::any_of(charter.owners.begin(), charter.owners.end(),
                     [&](const Owner& owner) { return owner.name == charter.learner.name; });
}

std::string who(const Charter& charter) {
  int64_t rows = 0;
  std::string names;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    rows += charter.owners[i].rows;
    if (i < kListed) names += (i ? ", " : "") + charter.owners[i].name;
  }
  if (charter.owners.size() > kListed) names += " and others";
  const std::string owners = count(static_cast<int64_t>(charter.owners.size()), "owner");
  const std::string hold = charter.records ? owners + " hold different columns of the same " +
                                                 count(charter.records->count, "record")
                                           : owners + " with " + count(rows, "record") + " in all";
  const bool both = charter.protocol.learners.owner.has_value();
  if (!charter.central())
    return "Who: " + hold + ": " + names + ". Nobody coordinates: " +
           (charter.protocol.learners.copies
                ? "every owner is the learner of a job of its own (" +
                      word(*charter.protocol.learners.owner) + ").\n"
                : "answers are passed on from owner to owner, and all learn " +
                      std::string("the same model.\n"));
  if (office_is_owner(charter))
    return "Who: " + hold + ": " + names + ". " + charter.learner.name +
           ", an owner, also passes on the letters of all.\n";
  return "Who: " + hold + ": " + names + ". " + charter.learner.name + " coordinates" +
         (both ? ", and is an owner as well (" + word(*charter.protocol.learners.owner) + ").\n"
               : " and has no private input.\n");
}

std::string loss(const Model& model) {
  std::string text = word(model.loss) + " loss";
  if (model.loss == Loss::kHuber) text += " (linear beyond " + shortest(model.huber_delta) + ")";
  const auto [first, second] = model.class_weights;
  if (first != 1 || second != 1)
    text += " (classes weighted " + shortest(first) + " and " + shortest(second) + ")";
  return text;
}

std::string products_among(const Charter& charter) {
  const auto& columns = charter.schema.columns;
  const auto products = std::count_if(columns.begin(), columns.end(),
                                      [](const data::Column& each) { return each.is_product(); });
  if (products == 0) return "";
  return ", " + grouped(products) + " of them pairs of levels of two others";
}

std::string what(const Charter& charter) {
  const Model& model = charter.model;
  const auto columns = static_cast<int64_t>(charter.schema.columns.size());
  const auto features = static_cast<int64_t>(charter.schema.features().size());
  const std::string made = charter.preprocess && !charter.schema.bundle
                               ? ""  // The bundle decides how many.
                               : " (" + count(features, "feature") + ")";
  std::string text =
      (charter.protocol.distance()
           ? "What: how far owners differ from the public rows' linear model of "
           : "What: a linear model of ") +
      in_quotes(charter.schema.target.column) + " from " + count(columns, "column") + made +
      products_among(charter) + ", " + loss(model) +
      (model.l1 > 0 ? ", l1 = " + shortest(model.l1) : ", l2 = " + shortest(model.l2)) +
      ", every coefficient between -" + shortest(model.box) + " and " + shortest(model.box) + ".";
  if (charter.preprocess)
    text += " Features first pass through the public bundle " +
            to_hex(charter.preprocess->sha256).substr(0, 12) + "...";
  return text + "\n";
}

std::string output(Average average) {
  if (average == Average::kPaper) return "the weighted average of all points";
  return average == Average::kTail ? "the average of the last half" : "the last point";
}

std::string output(Output output) {
  if (output == Output::kCopies) return "the mean of the learner's point and all owners' copies";
  return output == Output::kTail ? "the average of the learner's point over the last half"
                                 : "the learner's last point";
}

double longest_step(const Charter& charter) {
  double longest = 0;
  for (const learn::AsyncRule::Owner& owner : async_rule(charter).owners)
    longest = std::fmax(longest, owner.step * owner.weight);
  return longest;
}

/// Owners come one at a time; the longest step is the largest owner's.
std::string how_async(const Charter& charter) {
  const charter::Async& p = *charter.protocol.as<charter::Async>();
  std::string text =
      ", output " + output(p.output) + ". Owners answer one at a time, " +
      (p.contact == Contact::kBroadcast ? "whoever claims a round first" : "each when it asks to") +
      ", and each at most " + decided(charter, "protocol.answers", count(p.answers, "time")) +
      ", which its ledger enforces";
  if (!charter.complete() || charter.model.loss == Loss::kHinge) return text;
  return text + ". Before the first question the step is checked: the largest owner's, " +
         about(longest_step(charter)) + ", times the largest curvature of " +
         (charter.pilot ? "the pilot rows" : "rows within the columns' bounds") +
         " must be below 2";
}

std::string momentum(double momentum) {
  return momentum > 0 ? ", momentum " + shortest(momentum) : "";
}

std::string how_sync(const Charter& charter, const charter::Sync& sync) {
  const Protocol& p = charter.protocol;
  std::string text = momentum(sync.momentum);
  if (!p.once()) text += ", output " + decided(charter, "protocol.average", output(sync.average));
  text += ", start " + word(p.start);
  if (p.distance()) return text + ", owners weighted by rows up to the median";
  return text + ", owners weighted by " +
         (p.weights == Weights::kRows ? "their rows" : "rows and noise, as the pilot shows");
}

std::string how_admm(const charter::Admm& admm) {
  return ", scaling " + word(admm.scaling) + ", " + (admm.warm_start ? "warm" : "cold") + " start" +
         (admm.tolerance > 0 ? ", done once residuals are below " + shortest(admm.tolerance) : "");
}

std::string how(const Charter& charter) {
  const Protocol& p = charter.protocol;
  std::string text = "How: protocol " + word(p.name());
  if (const auto rule = p.rule())
    text += ", rule " + decided(charter, "protocol.rule", word(*rule));
  text += ", rounds " + decided(charter, "protocol.rounds", grouped(p.rounds));
  if (p.rule() == Rule::kGram)
    text +=
        std::string(p.as<charter::Sync>()->momentum > 0 ? ", steps 1"
                                                        : ", steps 1, 1, then 2/(k + 1)") +
        " by the curvature of the owners' noisy Gram matrix, of columns moved to [-1, 1] by their "
        "bounds";
  else if (!p.once())
    text += ", step " + decided(charter, "protocol.step", shortest(p.step));
  if (const auto* sync = p.as<charter::Sync>()) text += how_sync(charter, *sync);
  if (const auto* vertical = p.as<charter::Vertical>()) text += momentum(vertical->momentum);
  if (const auto* admm = p.as<charter::Admm>()) text += how_admm(*admm);
  if (p.as<charter::Async>()) text += how_async(charter);
  if (p.as<charter::Federated>())
    text += ", " + decided(charter, "protocol.local_steps", grouped(p.local_steps())) +
            " local steps before each sum";
  if (const auto& secure = charter.secure_aggregation)
    text += ". Only the sum over owners is opened, and only if " + grouped(secure->survivors) +
            " of them answer; it stays private if up to " + count(secure->colluders, "owner") +
            " pool what they know. " +
            (secure->repeats == 0 ? "A sum that fails is not paid for again"
                                  : "Up to " + count(secure->repeats, "sum") +
                                        " beyond the rounds can be paid if one fails");
  text += ". An answer is due within " + grouped(charter.network.deadline_s) + " seconds";
  const auto owners = static_cast<int64_t>(charter.owners.size());
  if (p.as<charter::Sync>() && !charter.secure_aggregation && charter.network.quorum < owners)
    text += "; after that a round is closed with the answers of at least " +
            grouped(charter.network.quorum) + " of " + count(owners, "owner");
  return text + ".\n";
}

std::string bound_of(const Charter& charter) {
  const Privacy& privacy = charter.privacy;
  const std::string norm = privacy.mechanism == MechanismName::kLaplace ? "L1" : "L2";
  const bool once = charter.protocol.statistics() && !charter.columns_apart();
  if (once && privacy.mechanism == MechanismName::kLaplace)
    return "each record first shrunk until its numbers there add up to " +
           shortest(privacy.max_row_norm * privacy.max_row_norm) + " in size";
  if (charter.protocol.without_dealer())
    return "no record longer than " + norm + " norm " + about(privacy.max_row_norm) +
           " by how columns are told";
  if (privacy.max_row_norm > 0 && !charter.protocol.gram())
    return "each record first shrunk to " + norm + " norm " + shortest(privacy.max_row_norm);
  return "each record's part clipped to " + norm + " norm " +
         decided(charter, "privacy.max_grad_norm", shortest(privacy.max_grad_norm));
}

std::string answer_of(const Charter& charter) {
  const Protocol& protocol = charter.protocol;
  if (protocol.statistics()) return "noisy table of sums of products";
  if (protocol.distance())
    return "pair of noisy numbers under a mask: how far its rows pull from the pilot's model, in "
           "the "
           "intercept and in all else";
  if (protocol.rule() == Rule::kNoisySharing) return "noisy list of one score per record";
  if (charter.columns_apart()) return "noisy gradient sum in secret shares";
  if (protocol.as<charter::Federated>()) return "noisy model update under a mask";
  return charter.secure_aggregation ? "noisy gradient sum under a mask" : "noisy gradient sum";
}

/// The Gram matrix that leaves beside gradients, under rule gram or after an alarm.
std::string gram_leaves(const Charter& charter) {
  if (!charter.protocol.gram()) return "";
  const std::string matrix = "noisy table of sums of products of features" +
                             std::string(charter.secure_aggregation ? " under a mask" : "") +
                             ", each record first shrunk to L2 norm " +
                             shortest(charter.privacy.max_row_norm);
  if (!charter.protocol.gram_after_alarm())
    return "first one " + matrix + ", paid with " + about(100 * kGramShare) +
           " % of the budget; then ";
  return "after an alarm of the first answer" +
         std::string(charter.protocol.on_alarm() == charter::OnAlarm::kAskGram
                         ? ", if a person says so,"
                         : "") +
         " instead of the other answers one " + matrix + ", and " + grouped(kAfterAlarmRounds) +
         " gradient sums more, within the same budget; else ";
}

std::string what_leaves(const Charter& charter) {
  const Protocol& protocol = charter.protocol;
  if (!protocol.protects())
    return "What would leave each owner: one exact score per record, every round. Whoever takes "
           "part learns every label.\n";
  const std::string key = protocol.one_at_a_time() ? "protocol.answers" : "protocol.rounds";
  std::string text = "What leaves each owner: " + gram_leaves(charter) + "a " + answer_of(charter) +
                     ", " + decided(charter, key, grouped(charter.answers())) + " in all, " +
                     bound_of(charter) + ", with " + word(charter.privacy.mechanism) + " noise";
  const bool paper = charter.privacy.calibration == Calibration::kPaper;  // evaluates nothing
  if (charter.privacy.evaluate > 0 && !charter.columns_apart() && !paper)
    text += "; then one noisy loss, paid with " + about(100 * charter.privacy.evaluate) +
            " % of epsilon";
  return text + ". No record leaves.\n";
}

/// The spread of the noise on one coordinate of an owner's mean gradient (theory (N4) and
/// (N5)); nothing where the sensitivity is not a clipped gradient's.
std::string noise(const Charter& charter, const Owner& owner) {
  const Privacy& privacy = charter.privacy;
  if (charter.learns_from_others(owner.name))
    return charter.protocol.learners.publish
               ? "; pays once, for its tuned model"
               : "; is asked nothing, and what it learns does not leave it";
  if (!charter.complete() || privacy.max_grad_norm == 0 || charter.secure_aggregation) return "";
  if (charter.protocol.rule() == Rule::kGram) return "";  // table_noise tells it.
  const bool laplace = privacy.mechanism == MechanismName::kLaplace;
  if (privacy.calibration == Calibration::kPaper && !laplace) return "";  // No paper has that.
  const auto scale = mean_noise_scale(charter, owner);
  if (!scale) return "";
  return "; each answer's mean gradient carries " +
         (laplace ? "Laplace noise of scale " : word(privacy.mechanism) + " noise of deviation ") +
         about(*scale);
}

/// How much noise a table of products and the gradients after it will have, before anyone pays.
std::string table_noise(const Charter& charter) {
  if (!charter.complete() || charter.privacy.calibration == Calibration::kPaper) return "";
  const auto notice = noise_notice(charter);
  if (notice) return notice->empty() ? "" : "  " + *notice + "\n";
  if (!charter.protocol.gram()) return "";
  return "  REFUSED: " + notice.error().what + ". " + notice.error().hint + "\n";
}

/// What owners without a dealer send each other first.
std::string cells_price(const Charter& charter) {
  if (!charter.complete() || !charter.protocol.without_dealer()) return "";
  const auto terms = vertical_terms(charter);
  if (!terms) return "";
  const std::string before =
      "Before that " + std::string(charter.owners.size() == 2 ? "the two" : "all owners together") +
      " send each other about " + about(setup_bytes(*terms) / 1e6) + " MB that tell nothing";
  if (terms->grid)
    return "  Mean gradients of a round will carry gaussian noise of deviation " +
           about(terms->deviation() * terms->unit() / double(terms->plan.rows)) + ", " +
           (terms->shares ? "some from every owner" : "all that protects it from every owner") +
           ". " + before + ", and " + about(round_bytes(*terms) / 1e6) + " MB in each round.\n";
  const double unit = std::ldexp(1.0, -2 * terms->plan.bits) / double(terms->plan.rows);
  return "  Mean products of columns of two owners will carry gaussian noise of deviation " +
         about(std::sqrt(2.0) * terms->beside->scale() * unit) +
         ", half of its variance from each of the two. " + before + ".\n";
}

/// How precise the sum of lengths will be, before anyone pays for it.
std::string distance_price(const Charter& charter) {
  if (!charter.protocol.distance() || !charter.complete()) return "";
  const auto deviation = distance_noise(charter);
  if (!deviation) return "";
  return "  Either mean length r over owners will carry " + word(charter.privacy.mechanism) +
         " noise of deviation " + about(*deviation) +
         ", so that tau, the squared distance, is known to about 2 r times that; `parley forecast` "
         "says what it may be.\n";
}

std::string price(const Charter& charter) {
  if (!charter.protocol.protects())
    return "At which price: nothing is charged, for nothing is protected: epsilon is infinite, "
           "whatever [[owner]] says.\n";
  std::string text = "At which price:\n";
  for (size_t i = 0; i < charter.owners.size() && i < kListed; ++i) {
    const Owner& owner = charter.owners[i];
    text += "  " + owner.name + ", " + count(owner.rows, "record") + ": epsilon " +
            shortest(owner.epsilon) + ", delta " + shortest(owner.delta) + noise(charter, owner) +
            ".\n";
  }
  if (charter.owners.size() <= kListed)
    return text + distance_price(charter) + cells_price(charter) + table_noise(charter);
  double low = charter.owners[0].epsilon, high = low;
  for (const Owner& owner : charter.owners)
    low = std::fmin(low, owner.epsilon), high = std::fmax(high, owner.epsilon);
  return text + "  and " + grouped(static_cast<int64_t>(charter.owners.size() - kListed)) +
         " more; epsilon lies between " + shortest(low) + " and " + shortest(high) + ".\n" +
         distance_price(charter) + table_noise(charter);
}

std::string promise(const Charter& charter) {
  const Privacy& privacy = charter.privacy;
  if (!charter.protocol.protects())
    return "NOT PRIVATE: rule \"admm\" adds no noise and runs in the simulator only.\n";
  if (privacy.calibration == Calibration::kPaper)
    return "NOT PRIVATE: calibration \"paper\" reproduces published formulas and runs in the "
           "simulator only.\n";
  const bool record = privacy.unit == "record";
  const std::string most = count(privacy.unit_records, "record");
  std::string unit = "one record";
  if (!record)
    unit = "all records of one " + in_quotes(privacy.unit) + " (at most " + most + " used)";
  if (record && privacy.unit_records > 1) unit = "any " + most;
  if (!charter.protocol.by_record()) unit = "all records of one owner";
  std::string text =
      "Promise: replacing " + unit + " changes the probability of " +
      (charter.secure_aggregation ? "all sums that are opened" : "anything an owner sends") +
      " by at most a factor e^epsilon, plus delta.";
  if (charter.jobs() > 1)
    text += " Every owner is asked by " + grouped(charter.jobs()) +
            " learners and divides its budget among them.";
  if (privacy.overlap > 1)
    text += " One unit may sit in " + grouped(privacy.overlap) +
            " data sets; every owner divides its budget by that.";
  return text + "\n";
}

/// What matching ids without a dealer tells, and to whom.
std::string known_of_ids(const Charter& charter) {
  const std::string most = grouped(static_cast<int64_t>(charter.records->longest_list()));
  if (charter.owners.size() == 2)
    return "Each learns which of its own ids the other has, and how many ids that has, at most " +
           most + ".";
  return "Each learns which of its own ids all have, and how many ids each other owner has, at "
         "most " +
         most + "; " +
         (office_is_owner(charter)
              ? charter.learner.name +
                    " also how the others' lists overlap, without ids, and who else has its own "
                    "ids."
              : "the learner how the lists overlap, without ids, and together with an owner who "
                "else has that owner's ids.");
}

/// Without a dealer: whose noise protects an owner.
std::string noise_of_owners(const Charter& charter) {
  const int64_t colluders = colluders_of(charter);
  if (colluders + 1 >= static_cast<int64_t>(charter.owners.size()))
    return "nobody for masks and noise. Every owner adds all the noise that protects it; ";
  return "no more than " + count(colluders, "owner") +
         " pool what they know, or leave out their noise: every owner adds a part of it; ";
}

/// Whom an owner of columns must trust for the promise to hold.
std::string trusted(const Charter& charter) {
  if (!charter.columns_apart()) return "";
  if (charter.protocol.rule() == Rule::kNoisySharing)
    return "Trusted: every owner knows all labels.\n";
  if (charter.protocol.without_dealer())
    return "Trusted: " + noise_of_owners(charter) +
           "the learner passes on letters that it cannot read. An owner that cheats in the test of "
           "rows can test one guess about another's records, which epsilon does not cover, and is "
           "stopped if it is wrong. " +
           known_of_ids(charter) + "\n";
  return "Trusted: owners keep to the protocol; the learner is trusted for masks and noise, and "
         "together with any owner it sees what they hide.\n";
}

std::string limits(const Charter& charter) {
  std::string text =
      "Public: this charter with its columns and bounds, the number of records of each owner";
  if (charter.pilot) text += ", the " + count(charter.pilot->rows, "pilot row");
  if (charter.records && charter.records->on_mismatch == OnMismatch::kIntersect)
    text += ", how many records the owners have in common";
  return text + (charter.protocol.distance() ? ", and those numbers" : ", and the trained model") +
         ".\n" + trusted(charter) +
         "Not covered: when answers are sent, an owner that lies about "
         "its data, and what is "
         "true of people in general and so of someone whose records were never used.\n";
}

std::string state(const Charter& charter) {
  if (charter.complete()) return "Complete: nothing is left to be chosen during the run.\n";
  std::string keys;
  for (const std::string& key : charter.undecided) keys += (keys.empty() ? "" : ", ") + key;
  return "Draft: " + keys + " left to `parley forecast --tune`; a draft does not train.\n";
}

}  // namespace

std::string explain(const Charter& charter) {
  const std::string purpose = charter.purpose.empty() ? "" : " Purpose: " + charter.purpose + ".";
  return "Charter " + charter.name + ", run " + grouped(charter.run) + ", of " +
         charter.consortium + "." + purpose + "\n" + who(charter) + what(charter) + how(charter) +
         what_leaves(charter) + price(charter) + promise(charter) + limits(charter) +
         state(charter) + "SHA-256: " + to_hex(charter.hash) + "\n";
}

}  // namespace parley::plan
