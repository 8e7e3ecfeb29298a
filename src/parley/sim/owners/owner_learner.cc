#include "parley/sim/owners/owner_learner.h"

#include <utility>

#include "parley/plan/learner/async_plan.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/terms.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/peers/own_model.h"
#include "parley/sim/async.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/owners/shares.h"

namespace parley::sim {
namespace {

using charter::Charter, charter::OwnerLearner;

/// One run: its owners with their ledgers, and one job after the other.
class Jobs {
 public:
  explicit Jobs(const OwnerLearnerSetting& setting)
      : setting_(setting), input_(setting.input), charter_(setting.input.charter) {}

  Result<OwnerLearnerRun> run() {
    const size_t owners = charter_.owners.size();
    result_.spent.resize(owners), result_.answers.resize(owners), result_.weights.resize(owners);
    result_.published = charter_.protocol.publish;
    for (size_t i = 0; i < owners; ++i)
      parties_.push_back(TRY(make_party(input_, setting_.options, i, setting_.run)));
    for (size_t i = 0; i < owners; ++i)
      if (charter_.protocol.copies || charter_.owners[i].name == charter_.learner.name)
        TRY(learn_as(i));
    for (size_t i = 0; i < owners; ++i) {
      result_.spent[i].epsilon = parties_[i]->epsilon_spent();
      result_.weights[i] /= static_cast<double>(result_.learners.size());
    }
    return std::move(result_);
  }

 private:
  Result<void> learn_as(size_t owner) {
    const SimulateInput part = part_of(plan::job_of(charter_, owner));
    OwnerLearnerRun::Learner& learner = result_.learners.emplace_back();
    learner.owner = owner;
    JobSetting job{
        .input = part, .options = setting_.options, .run = setting_.run, .faults = setting_.faults};
    for (const charter::Owner& each : part.charter.owners) job.parties.push_back(party(each.name));
    uint64_t seen = 0;
    job.after = [&](const protocol::Learner& state) {
      if (state.rounds_done() <= seen) return;  // After a crash: noted before.
      seen = state.rounds_done();
      setting_.options.progress(async() ? 1 : part.owners.size());
      if (async() && !is_noted(seen, plan::async_rule(part.charter))) return;
      learner.by_round.push_back(setting_.measure(state.trained().theta));
    };
    JobRun run = TRY(run_job(job));
    TRY(note(part, run));
    learner.own = TRY(own_model(owner, run));
    learner.shared = std::move(run.trained.theta);
    return {};
  }

  bool async() const { return charter_.protocol.name == charter::ProtocolName::kAsync; }

  /// The same data for the owners of a job.
  SimulateInput part_of(Charter job) const {
    SimulateInput part{.charter = std::move(job),
                       .owners = {},
                       .pilot = input_.pilot,
                       .policies = input_.policies};
    for (const charter::Owner& each : part.charter.owners)
      for (size_t i = 0; i < charter_.owners.size(); ++i)
        if (charter_.owners[i].name == each.name) part.owners.push_back(input_.owners[i]);
    return part;
  }

  std::shared_ptr<Party> party(const std::string& name) const {
    for (const auto& each : parties_)
      if (each->name() == name) return each;
    return check(false), nullptr;
  }

  Result<void> note(const SimulateInput& part, const JobRun& run) {
    const auto learner =
        TRY(protocol::make_learner(part.charter, part.pilot.get(), protocol::Receipts::kUnsigned));
    const std::vector<charter::Owner>& asked = part.charter.owners;
    for (size_t i = 0, k = 0; i < charter_.owners.size() && k < asked.size(); ++i) {
      if (charter_.owners[i].name != asked[k].name) continue;
      result_.spent[i].evaluation += run.trained.spent[k].evaluation;
      result_.answers[i] += run.trained.answers[k];
      result_.weights[i] += learner->owners()[k].weight;
      ++k;
    }
    if (result_.learners.size() == 1) result_.evaluation = run.trained.evaluation;
    result_.bytes_up += run.bytes_up, result_.bytes_down += run.bytes_down;
    return {};
  }

  Result<std::vector<double>> own_model(size_t owner, const JobRun& run) {
    if (charter_.protocol.publish) return published(owner, run.trained.theta);
    const auto others =
        TRY(protocol::from_others(charter_, owner, input_.pilot.get(), run.journal, run.trained));
    return protocol::own_model(charter_, others, input_.owners[owner].rows,
                               setting_.options.threads);
  }

  /// A, to be published: clipped, noisy, and paid for.
  Result<std::vector<double>> published(size_t owner, const std::vector<double>& center) {
    const plan::Terms terms = TRY(plan::terms_for(charter_, owner));
    auto gate = TRY(parties_[owner]->open_gate());
    const auto released = TRY(gate.answer(1, center));
    result_.answers[owner] = 1;
    return protocol::published_model(released.values(), terms.lattice.gamma(), terms.box);
  }

  const OwnerLearnerSetting& setting_;
  const SimulateInput& input_;
  const Charter& charter_;
  std::vector<std::shared_ptr<Party>> parties_{};
  OwnerLearnerRun result_{};
};

/// After each round the mean over the learners, and what is published at the end.
std::vector<double> history(const OwnerLearnerRun& run, const Reference& reference) {
  std::vector<double> mean(run.learners[0].by_round.size());
  for (const auto& learner : run.learners)
    for (size_t k = 0; k < mean.size(); ++k)
      mean[k] += learner.by_round[k] / static_cast<double>(run.learners.size());
  if (run.published) mean.push_back(reference.relative(reference.pooled.at(run.learners[0].own)));
  return mean;
}

Result<Outcome::Share> share_in(const Charter& charter, const OwnerLearnerRun& run, size_t owner) {
  const bool silent =
      charter.learns_from_others(charter.owners[owner].name) && !charter.protocol.publish;
  if (silent) return Outcome::Share{};
  return share_of(charter, owner, run.weights[owner], run.answers[owner], run.spent[owner]);
}

}  // namespace

bool learns_apart(const Charter& charter) {
  const auto& how = charter.protocol.owner_learner;
  return how && (charter.protocol.copies || *how != OwnerLearner::kOwnNoise);
}

Result<OwnerLearnerRun> run_owner_learner(const OwnerLearnerSetting& setting) {
  TRY(plan::check_everybody(setting.input.charter));
  return Jobs(setting).run();
}

Result<Outcome> simulate_owner_learner(const SimulateInput& input, const SimulateOptions& options,
                                       const Reference& reference) {
  OwnerLearnerSetting setting{.input = input, .options = options};
  setting.measure = [&](std::span<const double> theta) {
    return reference.relative(reference.pooled.at(theta));
  };
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  Outcome outcome;
  for (; setting.run < options.runs; ++setting.run) {
    const OwnerLearnerRun run = TRY(run_owner_learner(setting));
    const std::vector<double> rounds = history(run, reference);
    outcome.by_round.resize(rounds.size());
    for (size_t k = 0; k < rounds.size(); ++k) outcome.by_round[k].push_back(rounds[k]);
    outcome.own.resize(run.learners.size());
    for (size_t k = 0; k < run.learners.size(); ++k) {
      outcome.own[k].owner = run.learners[k].owner;
      outcome.own[k].published = run.published;
      outcome.own[k].relative.push_back(setting.measure(run.learners[k].own));
    }
    if (setting.run > 0) continue;
    outcome.model = run.published ? run.learners[0].own : run.learners[0].shared;
    outcome.evaluation = run.evaluation;
    outcome.bytes_up = run.bytes_up, outcome.bytes_down = run.bytes_down;
    for (size_t i = 0; i < input.owners.size(); ++i)
      outcome.owners.push_back(TRY(share_in(input.charter, run, i)));
  }
  return outcome;
}

}  // namespace parley::sim
