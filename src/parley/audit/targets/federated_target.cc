#include "parley/audit/targets/federated_target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "parley/learn/federated/shrink.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/distance.h"
#include "parley/protocol/federated/learner.h"
#include "parley/sim/engine/party.h"

namespace parley::audit {
namespace {

using charter::Charter;
using RowsPointer = std::shared_ptr<const data::Rows>;

constexpr size_t kNarrowColumns = 2, kOtherRecords = 3;
constexpr double kFarOut = 1e6;   // Times the clip, or a label: clipped under every loss.
constexpr double kStraight = 12;  // So far on the losing side the logistic loss is straight.
constexpr double kLoudEpsilon = 100;

/// The charter over two columns and few records of every owner, with keys to sign.
Charter narrowed_sums(Charter charter) {
  charter.preprocess.reset();
  charter.schema.bundle.reset();
  charter.schema.bias = false;
  charter.schema.columns.clear();
  for (size_t j = 0; j < kNarrowColumns; ++j)
    charter.schema.columns.push_back({.name = "a" + std::to_string(j), .low = -1, .high = 1});
  charter.protocol.start = charter::Start::kZero;  // How the learner steps is no matter here.
  auto* sync = charter.protocol.as<charter::Sync>();
  if (sync && sync->rule == charter::Rule::kPilotNewton) sync->rule = charter::Rule::kConstant;
  for (charter::Owner& owner : charter.owners) {
    owner.rows = charter.privacy.unit_records + static_cast<int64_t>(kOtherRecords);
    owner.sign_key = sim::simulated_key(owner.name).public_key();
  }
  return charter;
}

/// What is asked about, in every aggregation: out at the box, along the first column.
std::vector<double> far_out(const Charter& charter) { return {charter.model.box, 0}; }

/// A record of the attacker's: as long as it may be, a little against the model asked about and
/// otherwise across it, up or down.
std::vector<double> canary(const Charter& charter, bool up) {
  const double length = plan::shrunk_to(charter).value_or(kFarOut * charter.privacy.max_grad_norm);
  const double against = std::min(.3, kStraight / (charter.model.box * length));
  const double across = std::sqrt(1 - against * against) * length;
  return {-against * length, up ? across : -across};
}

/// Public rows by which a job of rule "distance" measures: the same length in all directions.
const data::Rows& public_rows() {
  static const data::Rows rows = [] {
    data::Rows made(kNarrowColumns);
    for (const double label : {-1., 1.})
      for (const double side : {-1., 1.}) {
        made.add(std::array{side, 0.}, label);
        made.add(std::array{0., side}, label);
      }
    return made;
  }();
  return rows;
}

/// Of the audited owner, whose unit is one way or the other, or of anyone else. At level "party"
/// all its records are. A length says nothing of a lone record's direction: under rule "distance"
/// others point up, so that the unit doubles or cancels them.
RowsPointer rows_of(const Charter& charter, bool audited, World world) {
  const bool whole = !charter.protocol.by_record();
  const bool classes = !charter.schema.target.levels.empty();
  auto rows = std::make_shared<data::Rows>(kNarrowColumns);
  const auto unit = static_cast<size_t>(charter.privacy.unit_records);
  for (size_t i = 0; i < unit + kOtherRecords; ++i) {
    const bool beside = charter.protocol.distance() && i < 2 * unit;
    if (audited && (whole || i < unit || beside))
      rows->add(canary(charter, i >= unit || world == World::kSecond), classes ? 1 : kFarOut);
    else
      rows->add(std::vector<double>(kNarrowColumns), 1);
  }
  return rows;
}

/// An owner's part of aggregation `attempt` before any noise.
std::vector<int64_t> exact_part(const plan::SecaggTerms& terms, const RowsPointer& records,
                                const std::vector<double>& theta, uint32_t attempt) {
  if (const auto* sum = std::get_if<plan::DistanceSum>(&terms.part)) {
    const auto there = std::get<RowsPointer>(sum->metric->rows(records));
    const auto lengths = sum->norm.of(learn::lattice_sum<L2>(
        sum->loss, terms.lattice(), sum->metric->point(theta), *there, 0, there->size()));
    return {lengths.begin(), lengths.end()};
  }
  if (const auto* sum = std::get_if<plan::GradientSum>(&terms.part))
    return learn::lattice_sum<L2>(sum->loss, sum->lattice, theta, *records, 0, records->size());
  const learn::LocalUpdate& update = terms.update();
  const learn::LocalPlan& plan = update.plan();
  const auto shrunk = std::get<RowsPointer>(learn::shrunk(records, plan.max_row_norm));
  const double unit = terms.lattice().gamma() / static_cast<double>(plan.rows);
  const auto mean = [&](std::span<const double> at) {
    std::vector<double> gradient;
    for (const int64_t value :
         learn::lattice_sum<L2>(plan.loss, terms.lattice(), at, *shrunk, 0, shrunk->size()))
      gradient.push_back(unit * static_cast<double>(value));
    return gradient;
  };
  const uint64_t done = uint64_t{attempt - 1} * static_cast<uint64_t>(plan.steps);
  return update.rounded(update.run(theta, mean, done), terms.gamma);
}

struct Attack {
  Charter charter;
  size_t owner = 0;
  protocol::FederatedPlan plan;               // of a learner that always asks the same
  std::vector<std::vector<double>> shifts{};  // by aggregation: of the sum, between the worlds
};

std::vector<double> difference(const std::vector<int64_t>& before,
                               const std::vector<int64_t>& after) {
  std::vector<double> shift;
  for (size_t j = 0; j < before.size(); ++j)
    shift.push_back(static_cast<double>(after[j] - before[j]));
  return shift;
}

Result<Attack> attack_on(const Charter& whole, size_t owner) {
  Charter charter = narrowed_sums(whole);
  auto plan = TRY(protocol::federated_plan(charter, nullptr));
  plan.schedule = learn::constant_step(plan.answers, 0, learn::Average::kNone, far_out(charter));
  plan.l2 = 0;
  plan.evaluation.reset();
  plan::SecaggTerms terms = TRY(plan::secagg_plan(charter)).owners.at(owner);
  if (auto* distance = std::get_if<plan::DistanceSum>(&terms.part))
    distance->metric = TRY(plan::distance_metric(charter, &public_rows()));
  Attack attack{std::move(charter), owner, std::move(plan)};
  const std::vector<double> theta = far_out(attack.charter);
  const RowsPointer first = rows_of(attack.charter, true, World::kFirst);
  const RowsPointer second = rows_of(attack.charter, true, World::kSecond);
  if (terms.gram && !terms.after_alarm)  // Once, and first.
    attack.shifts.push_back(
        difference(learn::statistics_sum(terms.gram->map, *first, 0, first->size()),
                   learn::statistics_sum(terms.gram->map, *second, 0, second->size())));
  for (uint32_t attempt = 1; attempt <= attack.plan.answers; ++attempt)
    attack.shifts.push_back(difference(exact_part(terms, first, theta, attempt),
                                       exact_part(terms, second, theta, attempt)));
  return attack;
}

struct Played {
  double score = 0;
  double epsilon = 0;  // of the audited owner, by its ledger
};

/// One job with the fewest survivors, the audited owner first among them, the colluders last.
class Job {
 public:
  static Result<Job> make(const Attack& attack, World world, Entropy& entropy) {
    Job job(attack);
    const charter::SecureAggregation& secure = *attack.charter.secure_aggregation;
    const auto survivors = static_cast<size_t>(secure.survivors);
    const uint64_t seed = entropy.word();
    for (size_t i = 0; i < survivors; ++i) {
      const size_t place = (attack.owner + i) % attack.charter.owners.size();
      const bool colludes = i + static_cast<size_t>(secure.colluders) >= survivors;
      TRY(job.add(place, rows_of(attack.charter, i == 0, world), colludes ? 0 : seed));
    }
    for (const charter::Owner& owner : attack.charter.owners)  // Those that dropped out, too.
      TRY(job.learner_->replay(sim::simulated_approval(attack.charter, owner.name)));
    return job;
  }

  Result<Played> run() {
    while (!learner_->finished()) {
      if (post_.empty()) TRY(take(learner_->time_is_up()));  // Nobody waits for the others.
      if (post_.empty()) return Error{Code::kFailed, "the audited job stands still"};
      const protocol::Outgoing letter = std::move(post_.front());
      post_.pop_front();
      protocol::Owner& owner = *owners_[letter.owner];
      const auto reply = TRY(owner.step(letter.message));
      if (owner.refused()) return *owner.refused();
      owner.rest();
      if (reply) TRY(take(TRY(learner_->step(letter.owner, *reply))));
    }
    return Played{score_, parties_[attack_->owner]->epsilon_spent()};
  }

 private:
  explicit Job(const Attack& attack)
      : attack_(&attack),
        learner_(std::make_unique<protocol::FederatedLearner>(attack.plan)),
        parties_(attack.charter.owners.size()),
        owners_(attack.charter.owners.size()) {}

  Result<void> add(size_t place, RowsPointer rows, uint64_t seed) {
    parties_[place] = TRY(sim::Party::make({.charter = attack_->charter,
                                            .owner = place,
                                            .rows = std::move(rows),
                                            .policy = nullptr,
                                            .seed = seed,
                                            .run = 0,
                                            .ledger = {},
                                            .threads = 1,
                                            .pilot = &public_rows()}));
    owners_[place] = TRY(parties_[place]->start());
    learner_->attend(place);
    return take(TRY(learner_->step(place, owners_[place]->connect())));
  }

  /// What is to be sent, and what an opened sum tells: the likelihood ratio, up to scale and shift.
  Result<void> take(protocol::Step step) {
    for (protocol::Outgoing& each : step.messages) post_.push_back(std::move(each));
    for (const wire::Note& note : step.notes) {
      if (note.kind == wire::Note::Kind::kBegun) attempt_ = note.round;
      if (note.kind != wire::Note::Kind::kSum) continue;
      const std::vector<double>& shift = attack_->shifts[attempt_ - 1];
      for (size_t j = 0; j < shift.size(); ++j)
        score_ += static_cast<double>(note.values[j]) * shift[j];
    }
    return {};
  }

  const Attack* attack_;
  std::unique_ptr<protocol::FederatedLearner> learner_;
  std::vector<std::unique_ptr<sim::Party>> parties_;
  std::vector<std::unique_ptr<protocol::Owner>> owners_;
  std::deque<protocol::Outgoing> post_{};
  uint32_t attempt_ = 0;
  double score_ = 0;
};

Result<Played> play(const Attack& attack, World world, Entropy& entropy) {
  Job job = TRY(Job::make(attack, world, entropy));
  return job.run();
}

Play play_of(Attack attack) {
  auto shared = std::make_shared<const Attack>(std::move(attack));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    return TRY(play(*shared, world, entropy)).score;
  };
}

}  // namespace

Result<Target> federated_target(const Charter& charter, size_t owner) {
  check(owner < charter.owners.size() && charter.secure_aggregation.has_value());
  const charter::Owner& who = charter.owners[owner];
  Attack attack = TRY(attack_on(charter, owner));
  SystemEntropy entropy;
  const Played played = TRY(play(attack, World::kFirst, entropy));
  Charter loud = charter;
  for (charter::Owner& each : loud.owners) each.epsilon *= kLoudEpsilon;
  const bool gaussian = charter.privacy.mechanism == charter::MechanismName::kGaussian;
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one unit of the attacker's or its opposite, asked far out by the learner and "
                    "its colluders, in every sum",
                .claimed = {std::min(played.epsilon, who.epsilon), who.delta, gaussian},
                .play = play_of(std::move(attack)),
                .control = play_of(TRY(attack_on(loud, owner))),
                .control_name = "noise for a budget a hundred times as large"};
}

}  // namespace parley::audit
