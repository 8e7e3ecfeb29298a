#include "parley/sim/owners/owner_learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/charter/available.h"
#include "parley/gate/terms.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/prox.h"
#include "parley/learn/statistics.h"
#include "parley/protocol/owner_jobs.h"
#include "parley/protocol/owner_weights.h"
#include "parley/protocol/sync_plan.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/owners/shares.h"

namespace parley::sim {
namespace {

using charter::Charter, charter::OwnerLearner;

constexpr double kTunedTo = 1e-9;  // of a model that only its owner sees

double part_of_rows(const Charter& charter, size_t owner) {
  double rows = 0;
  for (const charter::Owner& each : charter.owners) rows += static_cast<double>(each.rows);
  return static_cast<double>(charter.owners[owner].rows) / rows;
}

std::vector<double> exact_moments(const learn::AnyRows& rows, int threads) {
  const size_t p = learn::columns_of(rows);
  learn::Moments moments(p);
  std::visit([&](const auto& kind) { moments.add(*kind, threads); }, rows);
  std::vector<double> result;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) result.push_back(moments.product(j, k));
  for (size_t j = 0; j < p; ++j) result.push_back(moments.with_label(j));
  return result;
}

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
    const SimulateInput part = part_of(protocol::job_of(charter_, owner));
    const auto plan = TRY(protocol::sync_plan(part.charter, part.pilot.get()));
    OwnerLearnerRun::Learner& learner = result_.learners.emplace_back();
    learner.owner = owner;
    JobSetting job{
        .input = part, .options = setting_.options, .run = setting_.run, .faults = setting_.faults};
    for (const charter::Owner& each : part.charter.owners) job.parties.push_back(party(each.name));
    job.after = [&](const protocol::Learner& state) {
      if (state.rounds_done() <= learner.by_round.size()) return;  // After a crash: noted before.
      learner.by_round.push_back(setting_.measure(state.trained().theta));
      setting_.options.progress(part.owners.size());
    };
    JobRun run = TRY(run_job(job));
    note(part.charter, plan, run);
    learner.own = TRY(own_model(owner, part.charter, plan, run));
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

  void note(const Charter& job, const protocol::SyncPlan& plan, const JobRun& run) {
    for (size_t i = 0, k = 0; i < charter_.owners.size() && k < job.owners.size(); ++i) {
      if (charter_.owners[i].name != job.owners[k].name) continue;
      result_.spent[i].evaluation += run.trained.spent[k].evaluation;
      result_.answers[i] += static_cast<uint32_t>(plan.schedule.rounds.size());
      result_.weights[i] += plan.owners[k].weight;
      ++k;
    }
    if (result_.learners.size() == 1) result_.evaluation = run.trained.evaluation;
    result_.bytes_up += run.bytes_up, result_.bytes_down += run.bytes_down;
  }

  Result<std::vector<double>> own_model(size_t owner, const Charter& job,
                                        const protocol::SyncPlan& plan, const JobRun& run) {
    switch (*charter_.protocol.owner_learner) {
      case OwnerLearner::kOthersFirst:
        return charter_.protocol.publish ? published(owner, run.trained.theta)
                                         : tuned(owner, run.trained.theta);
      case OwnerLearner::kStatistics:
        return combined(owner, job, plan, run);
      default:
        return run.trained.theta;
    }
  }

  /// A: on its exact rows, near the others' model. It never asks again, and this never leaves it.
  std::vector<double> tuned(size_t owner, const std::vector<double>& center) const {
    const learn::Prox prox{.center = center,
                           .pull = charter_.protocol.prox,
                           .l2 = charter_.model.l2,
                           .box = charter_.model.box};
    return learn::prox_minimum(charter::loss_of(charter_.model), input_.owners[owner].rows, prox,
                               kTunedTo)
        .theta;
  }

  /// A, to be published: clipped, noisy, and paid for.
  Result<std::vector<double>> published(size_t owner, const std::vector<double>& center) {
    const gate::Terms terms = TRY(gate::terms_for(charter_, owner));
    auto gate = TRY(parties_[owner]->open_gate());
    const auto released = TRY(gate.answer(1, center));
    result_.answers[owner] = 1;
    std::vector<double> model;
    for (int64_t value : released.values())
      model.push_back(
          std::clamp(static_cast<double>(value) * terms.lattice.gamma(), -terms.box, terms.box));
    return model;
  }

  /// C: the others' noisy moments and its own exact ones, by rows.
  Result<std::vector<double>> combined(size_t owner, const Charter& job,
                                       const protocol::SyncPlan& plan, const JobRun& run) const {
    std::vector<double> sum = exact_moments(input_.owners[owner].rows, setting_.options.threads);
    const double own = part_of_rows(charter_, owner), off = plan.moments->off;
    const size_t p = plan.schedule.start.size();
    for (double& value : sum) value *= own;
    double variance = 0;
    for (size_t i = 0; i < job.owners.size(); ++i) {
      const double part = (1 - own) * part_of_rows(job, i);
      variance += part * part * TRY(protocol::noise_variance(job, i));
      const auto answer = std::find_if(run.journal.begin(), run.journal.end(), [&](const auto& e) {
        return e.owner == job.owners[i].name &&
               e.answer.receipt.kind == privacy::ReleaseKind::kAnswer;
      });
      check(answer != run.journal.end());
      const double unit = part * plan.gamma / static_cast<double>(job.owners[i].rows);
      size_t next = 0;
      for (size_t j = 0; j < p; ++j)
        for (size_t k = j; k < p; ++k, ++next)
          sum[next] += unit * static_cast<double>(answer->answer.values[next]) / (j == k ? 1 : off);
      for (; next < sum.size(); ++next)
        sum[next] += unit * static_cast<double>(answer->answer.values[next]) / off;
    }
    const double floor = learn::noise_floor(std::sqrt(variance), 1 / off, p);
    return learn::moments_minimum(sum, p, charter_.model.l2, floor, charter_.model.box);
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
  const charter::Protocol& p = setting.input.charter.protocol;
  if (p.name != charter::ProtocolName::kSync)
    return charter::not_available("protocol.owner_learner", name_of(*p.owner_learner),
                                  "Under async use \"own_noise\".");
  TRY(protocol::check_everybody(setting.input.charter));
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
