#include "parley/protocol/trained_model.h"

#include <string>

#include "parley/base/version.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/vertical_terms.h"
#include "parley/privacy/budget/tracks.h"
#include "parley/privacy/mechanisms.h"

namespace parley::protocol {
namespace {

std::string whose(const charter::Charter& charter) {
  const charter::Privacy& privacy = charter.privacy;
  if (!charter.protocol.by_record()) return "all records";
  return privacy.unit == "record" ? "one record" : "all records of one " + privacy.unit;
}

std::string_view norm_of(charter::MechanismName mechanism) {
  if (mechanism == charter::MechanismName::kLaplace) return privacy::Laplace::Norm::kName;
  return privacy::Gaussian::Norm::kName;
}

std::string statement(const charter::Charter& charter, bool simulated) {
  const charter::Privacy& privacy = charter.privacy;
  const bool pure = privacy.mechanism == charter::MechanismName::kLaplace;
  const std::string where = charter.records ? " at all owners" : " of one owner";
  const std::string promise = where + " would change the probability of any " +
                              (charter.protocol.distance() ? "distance" : "model") +
                              " by at most a factor e^epsilon" +
                              std::string(pure ? "." : ", plus delta.");
  if (!simulated) return "Other values in " + whose(charter) + promise;
  return std::string(learn::kNotPrivate) +
         ": a simulation, whose noise can be replayed from its seed. Run over the network, other "
         "values in " +
         whose(charter) + promise;
}

/// An alarm of the first answers may have ended the job.
uint64_t rounds_of(const charter::Charter& charter, const Trained& trained) {
  if (trained.stopped) return 1;
  if (trained.fell_back) return 1 + static_cast<uint64_t>(plan::kAfterAlarmRounds);
  return static_cast<uint64_t>(charter.learner_steps());
}

/// An owner's ledger tells its epsilon at the delta of its policy; the card tells it at the
/// charter's.
JobSpent at_delta_of(const charter::Owner& owner, const JobSpent& spent) {
  const auto budget = privacy::Budget::make(privacy::Epsilon(1.0), owner.delta, 0);
  if (spent.delta == 0 || !budget || spent.delta == budget->delta_convert) return spent;
  const auto there = [&](double epsilon) {
    return epsilon > 0 ? privacy::epsilon_at(epsilon, spent.delta, budget->delta_convert) : 0;
  };
  const double whole = there(spent.epsilon);
  const double training = there(spent.epsilon - spent.evaluation);
  return {whole, spent.evaluation > 0 ? whole - training : 0, owner.delta};
}

/// What the promise leaves open, beside what is always public.
std::string known_of_ids(const charter::Charter& charter) {
  return charter.owners.size() == 2
             ? "each owner knows which of its own ids the other has, and how many ids that has"
             : "each owner knows which of its own ids all have, and how many ids each other has; "
               "who passes on letters how the lists overlap, and together with an owner who else "
               "has its ids";
}

/// Without a dealer: is an owner protected by its own noise only together with others'?
bool needs_noise_of_others(const charter::Charter& charter) {
  return plan::colluders_of(charter) + 1 < static_cast<int64_t>(charter.owners.size());
}

std::vector<std::string> not_covered_of_rows(const charter::Charter& charter) {
  std::vector<std::string> open = {"the pilot rows are public",
                                   "the number of rows of each owner is public"};
  if (const auto& secure = charter.secure_aggregation)
    open.push_back("more than " + std::to_string(secure->colluders) +
                   " owners that work together with the learner, or put in less noise than they "
                   "should");
  if (charter.protocol.distance())
    open.push_back("how unlike an owner as a whole is: the numbers tell about institutions");
  return open;
}

std::vector<std::string> not_covered_of_columns(const charter::Charter& charter) {
  const charter::Protocol& protocol = charter.protocol;
  std::vector<std::string> open = {
      protocol.without_dealer()
          ? known_of_ids(charter)
          : "which records there are, and their ids, is known to all parties"};
  if (protocol.rule() == charter::Rule::kNoisySharing)
    open.push_back("the labels: all owners know them");
  else if (protocol.without_dealer())
    open.insert(open.end(),
                {"an owner that cheats in the test of rows can test one guess about another's "
                 "records, and is stopped if it is wrong",
                 needs_noise_of_others(charter)
                     ? "more than " + std::to_string(plan::colluders_of(charter)) +
                           " owners that pool what they know, or leave out their noise"
                 : charter.owners.size() == 2
                     ? "both owners together: the promise is against either of them, and everyone "
                       "else"
                     : "all owners together: the promise is against any of them that leave out "
                       "one, and everyone else"});
  else
    open.insert(open.end(),
                {"the learner deals the noise: together with any owner it knows what the noise "
                 "hides",
                 "owners keep to the protocol: one that sends other numbers than it should can "
                 "read labels or columns of others"});
  open.push_back("predictions: each opened score tells about the part of the model of every owner");
  return open;
}

std::vector<std::string> not_covered(const charter::Charter& charter) {
  auto open = charter.records ? not_covered_of_columns(charter) : not_covered_of_rows(charter);
  if (charter.privacy.overlap > 1 || charter.privacy.unit == "record")
    open.push_back(
        "a person with more records than unit_records, or with more owners than "
        "overlap");
  open.insert(open.end(), {"an owner that lies about its data", "answer times"});
  return open;
}

learn::PrivacyCard card_of(const charter::Charter& charter, const Trained& trained,
                           bool simulated) {
  const charter::Privacy& privacy = charter.privacy;
  learn::PrivacyCard card{.is_private = !simulated,
                          .calibration = std::string(name_of(privacy.calibration)),
                          .statement = statement(charter, simulated),
                          .adjacency = std::string(name_of(privacy.adjacency)),
                          .unit = privacy.unit,
                          .unit_records = static_cast<uint64_t>(privacy.unit_records),
                          .overlap = static_cast<uint64_t>(privacy.overlap),
                          .charter = "sha256:" + to_hex(charter.hash),
                          .protocol = std::string(name_of(charter.protocol.name())),
                          .mechanism = std::string(name_of(privacy.mechanism)),
                          .max_grad_norm = privacy.max_grad_norm,
                          .max_row_norm = privacy.max_row_norm,
                          .norm = std::string(norm_of(privacy.mechanism)),
                          .rounds = rounds_of(charter, trained),
                          .not_covered = not_covered(charter)};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    const JobSpent spent = at_delta_of(owner, trained.spent[i]);
    card.owners.push_back({.name = owner.name,
                           .rows = static_cast<uint64_t>(owner.rows),
                           .epsilon = spent.epsilon,
                           .delta = owner.delta,
                           .epsilon_evaluation = spent.evaluation,
                           .receipts = trained.answers[i] + (spent.evaluation > 0 ? 1 : 0)});
  }
  return card;
}

/// For people: what theta.z says about the target.
std::string prediction_of(const charter::Charter& charter) {
  const data::Target& target = charter.schema.target;
  if (target.levels.empty()) return learn::Model{}.prediction;
  if (charter.model.loss == charter::Loss::kLogistic)
    return "probability of " + target.levels[1] + " = 1 / (1 + exp(-theta.z))";
  return "theta.z above 0 means " + target.levels[1];
}

}  // namespace

learn::Model trained_model(const charter::Charter& charter, const Trained& trained,
                           learn::Training training) {
  training.rounds = rounds_of(charter, trained);
  training.parley = std::string(kVersion);
  return {.name = charter.name,
          .loss = charter::loss_of(charter.model),
          .theta = trained.theta,
          .box = charter.model.box,
          .l2 = charter.model.l2,
          .prediction = prediction_of(charter),
          .schema = charter.schema,
          .card = card_of(charter, trained, training.seed.has_value()),
          .training = std::move(training),
          .evaluation = trained.evaluation,
          .distance = trained.distance};
}

}  // namespace parley::protocol
