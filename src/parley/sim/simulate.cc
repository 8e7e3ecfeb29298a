#include "parley/sim/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <utility>

#include "parley/base/files.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/learner/warnings.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/terms.h"
#include "parley/protocol/trained_model.h"
#include "parley/sim/async.h"
#include "parley/sim/federated.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/literal.h"
#include "parley/sim/outcome.h"
#include "parley/sim/output_perturbation.h"
#include "parley/sim/owners/gossip.h"
#include "parley/sim/owners/owner_learner.h"
#include "parley/sim/party.h"
#include "parley/sim/vertical.h"

namespace parley::sim {
namespace {

using charter::Charter;

constexpr size_t kRunsAtOnce = 32;  // Each has its ledgers in memory.

void add(learn::Fitness& fitness, const data::AnyRows& rows) {
  std::visit([&](const auto& kind) { fitness.add(*kind); }, rows);
}

Result<Reference> reference_of(const SimulateInput& input, int threads) {
  const charter::Model& model = input.charter.model;
  Reference reference{learn::Fitness(charter::loss_of(model),
                                     input.charter.schema.features().size(), model.l2, threads),
                      {}};
  for (const OwnerData& owner : input.owners) add(reference.pooled, owner.rows);
  reference.optimum = reference.pooled.minimum(model.box);
  if (!(reference.optimum.fitness > 0))
    return Error{Code::kInvalid,
                 "the data is fitted without error, so relative fitness means nothing",
                 "Is the target among the features?"};
  return reference;
}

/// Of the owners that answer.
size_t first_asked(const Charter& charter) {
  return charter.owners.size() > 1 && charter.learns_from_others(charter.owners[0].name) ? 1 : 0;
}

Result<void> check_input(const SimulateInput& input) {
  check(input.owners.size() == input.charter.owners.size());
  check(input.charter.preprocess.has_value() == input.charter.schema.bundle.has_value());
  const size_t features = input.charter.schema.features().size();
  for (size_t i = 0; i < input.owners.size(); ++i)
    if (data::columns_of(input.owners[i].rows) != features ||
        data::size_of(input.owners[i].rows) == 0)
      return Error{Code::kInvalid,
                   input.charter.owners[i].name + " has no rows that fit the charter"};
  return {};
}

/// A simulated owner and its process.
struct Bank {
  std::unique_ptr<Party> party;
  std::unique_ptr<protocol::Owner> owner;
};

/// All runs of one synchronous simulation, batch by batch.
class Runs {
 public:
  Runs(const SimulateInput& input, const SimulateOptions& options, plan::SyncPlan plan,
       const Reference& reference)
      : input_(input), options_(options), plan_(std::move(plan)), reference_(reference) {
    by_round_.resize(plan_.schedule.rounds.size());
  }

  Result<void> all() {
    for (size_t first = 0; first < options_.runs; first += kRunsAtOnce)
      TRY(batch(first, std::min(kRunsAtOnce, options_.runs - first)));
    return {};
  }

  Result<Outcome> outcome() {
    Outcome outcome{.by_round = std::move(by_round_),
                    .model = std::move(model_),
                    .evaluation = evaluation_,
                    .bytes_up = bytes_up_,
                    .bytes_down = bytes_down_};
    for (size_t i = 0; i < plan_.owners.size(); ++i) {
      const plan::Terms terms = TRY(plan::terms_for(input_.charter, i));
      const double scale =
          std::visit([](const auto& mechanism) { return static_cast<double>(mechanism.scale()); },
                     terms.mechanism);
      outcome.owners.push_back(
          {.spent = spent_[i],
           .answers = terms.answers,
           .weight = plan_.owners[i].weight,
           .noise_scale = scale * terms.lattice.gamma() / static_cast<double>(terms.rows)});
    }
    return outcome;
  }

 private:
  using Parties = std::vector<std::vector<Bank>>;  // by run, then by owner

  Result<Parties> parties(size_t first, size_t count) const {
    Parties result(count);
    for (size_t run = 0; run < count; ++run)
      for (size_t i = 0; i < input_.owners.size(); ++i) {
        const std::string& name = input_.charter.owners[i].name;
        const auto policy = input_.policies.find(name);
        const bool keep = first + run == 0 && !options_.out.empty();
        auto party = TRY(
            Party::make({.charter = input_.charter,
                         .owner = i,
                         .rows = input_.owners[i].rows,
                         .policy = policy == input_.policies.end() ? nullptr : &policy->second,
                         .seed = options_.seed,
                         .run = first + run,
                         .ledger = keep ? ledger_file(options_.out, name) : std::filesystem::path(),
                         .threads = options_.threads}));
        auto process = TRY(party->start());
        result[run].push_back({std::move(party), std::move(process)});
      }
    return result;
  }

  /// Carries every message to its receiver until the job is over.
  Result<void> batch(size_t first, size_t count) {
    Parties owners = TRY(parties(first, count));
    protocol::SyncLearner learner(plan_, count);
    std::deque<protocol::Outgoing> post;
    const auto send = [&](std::vector<protocol::Outgoing> messages) {
      for (protocol::Outgoing& message : messages) post.push_back(std::move(message));
    };
    for (size_t run = 0; run < count; ++run)
      for (size_t i = 0; i < owners[run].size(); ++i) {
        learner.attend(i, run);
        const Bytes hello = owners[run][i].owner->connect();
        bytes_up_ += first + run == 0 ? hello.size() : 0;
        send(TRY(learner.step(i, run, hello)).messages);
      }
    while (!post.empty()) {
      const protocol::Outgoing letter = std::move(post.front());
      post.pop_front();
      const bool counted = first + letter.run == 0;
      bytes_down_ += counted ? letter.message.size() : 0;
      protocol::Owner& owner = *owners[letter.run][letter.owner].owner;
      const auto reply = TRY(owner.step(letter.message));
      owner.rest();
      if (!reply) continue;
      bytes_up_ += counted ? reply->size() : 0;
      const size_t before = learner.rounds_done();
      send(TRY(learner.step(letter.owner, letter.run, *reply)).messages);
      if (learner.refused()) return *learner.refused();
      if (learner.rounds_done() > before) note_round(learner, count);
      options_.progress(1);
    }
    if (first == 0) note_first_run(learner);
    return {};
  }

  void note_round(const protocol::SyncLearner& learner, size_t count) {
    for (size_t run = 0; run < count; ++run)
      by_round_[learner.rounds_done() - 1].push_back(
          reference_.relative(reference_.pooled.at(learner.model(run))));
  }

  void note_first_run(const protocol::SyncLearner& learner) {
    model_.assign(learner.model(0).begin(), learner.model(0).end());
    evaluation_ = learner.evaluation(0);
    spent_ = learner.spent(0);
  }

  const SimulateInput& input_;
  const SimulateOptions& options_;
  plan::SyncPlan plan_;
  const Reference& reference_;
  std::vector<std::vector<double>> by_round_;
  std::vector<double> model_;
  std::optional<learn::Evaluation> evaluation_{};
  std::vector<protocol::JobSpent> spent_;
  uint64_t bytes_up_ = 0, bytes_down_ = 0;
};

Result<Outcome> run_protocol(const SimulateInput& input, const SimulateOptions& options,
                             const Reference& reference) {
  if (learns_apart(input.charter)) return simulate_owner_learner(input, options, reference);
  if (!input.charter.protocol.graph.empty()) return simulate_gossip(input, options, reference);
  if (input.charter.protocol.name == charter::ProtocolName::kAsync)
    return simulate_async(input, options, reference);
  if (input.charter.secure_aggregation) return simulate_federated(input, options, reference);
  Runs runs(input, options, TRY(plan::sync_plan(input.charter, input.pilot.get())), reference);
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  TRY(runs.all());
  return runs.outcome();
}

Error not_in_the_library() {
  return {Code::kInvalid,
          "calibration \"paper\" is not in the library, which trains with privacy only",
          "The program `parley` has it, unless it was built with PARLEY_STUDIES=OFF.",
          {.key = "privacy.calibration"}};
}

Result<Spread> baseline(const SimulateInput& input, const SimulateOptions& options,
                        const Reference& reference) {
  const auto perturbed = TRY(OutputPerturbation::make(input));
  std::vector<double> relative;
  for (size_t run = 0; run < options.runs; ++run)
    relative.push_back(reference.relative(reference.pooled.at(perturbed.run(options.seed, run))));
  return spread_of(std::move(relative));
}

std::vector<SimulateResult::Owner> owners_of(const SimulateInput& input, const Reference& reference,
                                             const Outcome& outcome, double joint, int threads) {
  const Charter& charter = input.charter;
  const auto fitness_of = [&](const data::AnyRows& rows) {
    learn::Fitness own(charter::loss_of(charter.model), data::columns_of(rows), charter.model.l2,
                       threads);
    add(own, rows);
    return reference.pooled.at(own.minimum(charter.model.box).theta);
  };
  std::optional<double> pilot_only;  // The same for all.
  if (input.pilot) pilot_only = reference.relative(fitness_of(input.pilot));
  std::vector<SimulateResult::Owner> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const Outcome::Share& share = outcome.owners[i];
    SimulateResult::Owner owner{.name = charter.owners[i].name,
                                .source = input.owners[i].source,
                                .rows = static_cast<uint64_t>(charter.owners[i].rows),
                                .epsilon = charter.owners[i].epsilon,
                                .delta = charter.owners[i].delta,
                                .epsilon_spent = share.spent.epsilon,
                                .epsilon_evaluation = share.spent.evaluation,
                                .answers = share.answers,
                                .weight = share.weight,
                                .noise_scale = share.noise_scale};
    owner.local_fitness = fitness_of(input.owners[i].rows);
    owner.local_only = reference.relative(owner.local_fitness);
    owner.pilot_only = pilot_only;
    owner.joint = joint;
    for (const Outcome::Own& own : outcome.own)  // It takes home what it made of the answers.
      if (own.owner == i) owner.joint = spread_of(own.relative).mean;
    owner.gains = owner.joint < owner.local_only;
    owners.push_back(std::move(owner));
  }
  return owners;
}

/// How the model would be judged on all owners' rows.
std::vector<learn::Metric> pooled_metrics(const SimulateInput& input,
                                          const std::vector<double>& theta) {
  const data::Target& target = input.charter.schema.target;
  const learn::Model model{.theta = theta, .schema = input.charter.schema};
  std::vector<double> predicted, labels;
  for (const OwnerData& owner : input.owners) {
    std::visit(
        [&](const auto& rows) {
          const std::vector<double> values = learn::predict(model, *rows);
          predicted.insert(predicted.end(), values.begin(), values.end());
          for (size_t i = 0; i < rows->size(); ++i)
            labels.push_back(target.center + target.scale * rows->label(i));
          rows->release(0, rows->size());
        },
        owner.rows);
  }
  const bool log_odds = input.charter.model.loss == charter::Loss::kLogistic;
  const auto output = target.levels.empty() ? learn::Output::kValue
                      : log_odds            ? learn::Output::kLogOdds
                                            : learn::Output::kClassScore;
  return learn::metrics_of(output, predicted, labels);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  check(!values.empty());
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  Spread spread;
  for (double value : values) spread.mean += value / n;
  double squares = 0;
  for (double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.standard_error = values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  const auto quantile = [&](double part) {  // Linear between the two nearest.
    const double place = part * (n - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - double(below)) * (values[above] - values[below]);
  };
  spread.p25 = quantile(.25), spread.p50 = quantile(.5), spread.p75 = quantile(.75);
  return spread;
}

Result<SimulateResult> simulate(const SimulateInput& given, const SimulateOptions& options,
                                const Literal* paper) {
  const bool literal = given.charter.privacy.calibration == charter::Calibration::kPaper;
  if (literal && !paper) return not_in_the_library();
  if (given.charter.protocol.name == charter::ProtocolName::kSharing)
    return simulate_vertical(given, options, paper);
  const SimulateInput input = given.charter.secure_aggregation ? federated_input(given) : given;
  const auto started = std::chrono::steady_clock::now();
  const Charter& charter = input.charter;
  if (charter.secure_aggregation)
    TRY(plan::secagg_plan(charter));
  else if (!literal)
    TRY(plan::terms_for(charter, first_asked(charter)));
  TRY(check_input(input));
  std::vector<std::string> warnings;
  if (!literal) warnings = TRY(plan::plan_warnings(charter, input.pilot.get()));
  const Reference reference = TRY(reference_of(input, options.threads));
  const Outcome outcome = TRY(literal ? paper->rows(input, options, reference)
                                      : run_protocol(input, options, reference));

  SimulateResult result{.charter_name = charter.name,
                        .charter_hash = to_hex(charter.hash),
                        .seed = options.seed,
                        .runs = options.runs,
                        .calibration = std::string(name_of(charter.privacy.calibration)),
                        .why_not_private = {"simulation: the noise can be replayed from its seed",
                                            "fitness was measured on private rows"},
                        .warnings = std::move(warnings),
                        .optimum = reference.optimum,
                        .evaluation = outcome.evaluation,
                        .loss = std::string(name_of(charter.model.loss)),
                        .target = charter.schema.target,
                        .bytes_up = outcome.bytes_up,
                        .bytes_down = outcome.bytes_down,
                        .threads = options.threads};
  if (literal)
    result.why_not_private.insert(result.why_not_private.begin(),
                                  "calibration \"paper\": real-valued noise for a bound that "
                                  "nothing enforces, and no ledger");
  for (const auto& round : outcome.by_round) result.by_round.push_back(spread_of(round));
  result.relative_fitness = result.by_round.back();
  std::vector<double> fitness = outcome.by_round.back();
  for (double& value : fitness) value = reference.optimum.fitness * (1 + value);
  result.fitness = spread_of(fitness);
  if (options.baseline) result.output_perturbation = TRY(baseline(input, options, reference));
  result.owners =
      owners_of(input, reference, outcome, result.relative_fitness.mean, options.threads);
  for (const Outcome::Own& own : outcome.own)
    result.own_models.push_back(
        {charter.owners[own.owner].name, spread_of(own.relative), own.published});
  result.joint_metrics = pooled_metrics(input, outcome.model);
  result.optimum_metrics = pooled_metrics(input, reference.optimum.theta);
  if (!options.out.empty() && !literal) {  // No file of a model without a promise.
    protocol::Trained trained{.theta = outcome.model, .evaluation = outcome.evaluation};
    for (const Outcome::Share& share : outcome.owners)
      trained.spent.push_back(share.spent), trained.answers.push_back(share.answers);
    result.model = options.out / "model.json";
    TRY(write_model(result.model, protocol::trained_model(
                                      charter, trained,
                                      {.started = SimulatedClock().now(), .seed = options.seed})));
  }
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace parley::sim
