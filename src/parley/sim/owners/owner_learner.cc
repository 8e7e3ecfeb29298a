#include "parley/sim/owners/owner_learner.h"

#include <utility>

#include "parley/plan/learner/jobs.h"
#include "parley/plan/terms.h"
#include "parley/protocol/peers/own_model.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"

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
    result_.published = charter_.protocol.learners.publish;
    for (size_t i = 0; i < owners; ++i)
      parties_.push_back(TRY(Party::make(input_, setting_.options, i, setting_.run)));
    for (size_t i = 0; i < owners; ++i)
      if (charter_.protocol.learners.copies || charter_.owners[i].name == charter_.learner.name)
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
      if (seen % state.sweep() != 0 && seen != state.rounds()) return;
      learner.by_round.push_back(setting_.measure(state.trained().theta));
    };
    JobRun run = TRY(run_job(job));
    note(part, run);
    learner.own = TRY(own_model(owner, run));
    learner.shared = std::move(run.trained.theta);
    return {};
  }

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

  void note(const SimulateInput& part, const JobRun& run) {
    const std::vector<charter::Owner>& asked = part.charter.owners;
    for (size_t i = 0, k = 0; i < charter_.owners.size() && k < asked.size(); ++i) {
      if (charter_.owners[i].name != asked[k].name) continue;
      result_.spent[i].evaluation += run.trained.spent[k].evaluation;
      result_.answers[i] += run.trained.answers[k];
      result_.weights[i] += run.owners[k].weight;
      ++k;
    }
    if (result_.learners.size() == 1) result_.evaluation = run.trained.evaluation;
    result_.bytes_up += run.bytes_up, result_.bytes_down += run.bytes_down;
  }

  Result<std::vector<double>> own_model(size_t owner, const JobRun& run) {
    if (charter_.protocol.learners.publish) return published(owner, run.trained.theta);
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
  if (run.published) mean.push_back(reference.relative_at(run.learners[0].own));
  return mean;
}

/// Does it learn from the others' answers and say nothing itself?
bool is_silent(const Charter& charter, size_t owner) {
  return charter.learns_from_others(charter.owners[owner].name) &&
         !charter.protocol.learners.publish;
}

}  // namespace

bool learns_apart(const Charter& charter) {
  const auto& how = charter.protocol.learners.owner;
  return how && (charter.protocol.learners.copies || *how != OwnerLearner::kOwnNoise);
}

Result<OwnerLearnerRun> run_owner_learner(const OwnerLearnerSetting& setting) {
  TRY(plan::check_everybody(setting.input.charter));
  return Jobs(setting).run();
}

Result<RunOutcome> simulate_owner_learner(const SimulateInput& input,
                                          const SimulateOptions& options,
                                          const Reference& reference, uint64_t run) {
  const OwnerLearnerRun done = TRY(run_owner_learner(
      {.input = input,
       .options = options,
       .run = run,
       .measure = [&](std::span<const double> theta) { return reference.relative_at(theta); }}));
  RunOutcome outcome{.by_round = history(done, reference),
                     .model = done.published ? done.learners[0].own : done.learners[0].shared,
                     .evaluation = done.evaluation,
                     .bytes_up = done.bytes_up,
                     .bytes_down = done.bytes_down};
  for (const OwnerLearnerRun::Learner& learner : done.learners)
    outcome.own.push_back({learner.owner, reference.relative_at(learner.own), done.published});
  for (size_t i = 0; i < input.owners.size(); ++i) {
    OwnerShare& share = outcome.owners.emplace_back();
    if (is_silent(input.charter, i)) continue;
    share = {done.spent[i], done.answers[i], done.weights[i], TRY(noise_scale(input.charter, i))};
  }
  return outcome;
}

}  // namespace parley::sim
