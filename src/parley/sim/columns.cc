#include "parley/sim/columns.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/base/files.h"
#include "parley/learn/metrics.h"
#include "parley/learn/vertical/integer_rows.h"
#include "parley/plan/vertical_terms.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/outcome.h"

namespace parley::sim {
namespace {

using charter::Charter;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Where each owner's features lie among all features of the charter.
std::vector<std::vector<size_t>> places_of(const Charter& charter) {
  const std::vector<std::string> all = charter.schema.features();
  std::vector<std::vector<size_t>> places;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    places.emplace_back();
    for (const std::string& name : plan::part_schema(charter, i).features())
      places.back().push_back(size_t(std::find(all.begin(), all.end(), name) - all.begin()));
  }
  return places;
}

size_t label_holder(const Charter& charter) {
  size_t place = 0;
  while (!plan::holds_label(charter, place)) ++place;
  return place;
}

Joined join(const SimulateInput& input, const learn::JointPlan& plan) {
  const auto places = places_of(input.charter);
  Joined joined{std::make_shared<data::Rows>(input.charter.schema.features().size())};
  const data::AnyRows& labels = input.owners[label_holder(input.charter)].rows;
  std::vector<learn::IntegerRows> parts;
  for (size_t m = 0; m < places.size(); ++m) {
    parts.emplace_back(input.owners[m].rows, plan.bits, plan.row_norms[m]);
    joined.own.push_back(std::make_shared<data::Rows>(places[m].size()));
  }
  for (size_t i = 0; i < plan.rows; ++i) {
    const double y = std::visit([&](const auto& rows) { return rows->label(i); }, labels);
    std::vector<double> z(joined.all->columns());
    for (size_t m = 0; m < parts.size(); ++m) {
      std::vector<double> own(places[m].size());
      for (size_t k = 0; k < parts[m].at(i).size(); ++k)
        own[parts[m].at(i)[k]] = std::ldexp(double(parts[m].values(i)[k]), -plan.bits);
      for (size_t j = 0; j < own.size(); ++j) z[places[m][j]] = own[j];
      joined.own[m]->add(own, y);
    }
    joined.all->add(z, y);
  }
  return joined;
}

std::vector<double> whole_model(const Charter& charter,
                                const std::vector<std::vector<double>>& parts) {
  const auto places = places_of(charter);
  std::vector<double> theta(charter.schema.features().size());
  for (size_t m = 0; m < parts.size(); ++m)
    for (size_t j = 0; j < parts[m].size(); ++j) theta[places[m][j]] = parts[m][j];
  return theta;
}

std::vector<learn::Metric> metrics(const Charter& charter, const data::Rows& rows,
                                   const std::vector<double>& theta) {
  const learn::Model model{.theta = theta, .schema = charter.schema};
  const data::Target& target = charter.schema.target;
  std::vector<double> labels;
  for (size_t i = 0; i < rows.size(); ++i)
    labels.push_back(target.center + target.scale * rows.label(i));
  const bool log_odds = charter.model.loss == charter::Loss::kLogistic;
  const auto output = target.levels.empty() ? learn::Output::kValue
                      : log_odds            ? learn::Output::kLogOdds
                                            : learn::Output::kClassScore;
  return learn::metrics_of(output, learn::predict(model, rows), labels);
}

learn::Fitness fitness_of(const Charter& charter, const data::Rows& rows, int threads) {
  learn::Fitness fitness(charter::loss_of(charter.model), rows.columns(), charter.model.l2, threads,
                         charter.model.l1);
  fitness.add(rows);
  return fitness;
}

/// What an owner's columns alone would reach with the labels, and what the job did for it.
std::vector<SimulateResult::Owner> owners_of(const SimulateInput& input, const Joined& joined,
                                             const ColumnsJob& job, const Reference& reference,
                                             const ColumnsRun& run, double joint, int threads) {
  const Charter& charter = input.charter;
  std::vector<SimulateResult::Owner> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    std::vector<std::vector<double>> alone(charter.owners.size());
    alone[i] = fitness_of(charter, *joined.own[i], threads).minimum(charter.model.box).theta;
    SimulateResult::Owner owner{.name = charter.owners[i].name,
                                .source = input.owners[i].source,
                                .rows = job.plan.rows,
                                .epsilon = job.protects ? charter.owners[i].epsilon : kInfinite,
                                .delta = charter.owners[i].delta,
                                .epsilon_spent = run.owners[i].epsilon_spent,
                                .answers = run.owners[i].answers,
                                .weight = 1 / double(charter.owners.size()),
                                .noise_scale = job.noise_scale,
                                .joint = joint};
    owner.local_fitness = reference.pooled.at(whole_model(charter, alone));
    owner.local_only = reference.relative(owner.local_fitness);
    owner.gains = owner.joint < owner.local_only;
    owners.push_back(std::move(owner));
  }
  return owners;
}

Result<void> check_same_records(const SimulateInput& input) {
  for (size_t i = 1; i < input.owners.size(); ++i)
    if (input.owners[i].records != input.owners[0].records)
      return Error{Code::kInvalid,
                   "the records of " + input.charter.owners[0].name + " and " +
                       input.charter.owners[i].name + " are not the same",
                   "Compare their lists of ids: every party must bring the same records, each "
                   "once."};
  return {};
}

/// Relative fitness of every run, after each round or only at the end.
using ByRound = std::vector<std::vector<double>>;

void note(const ColumnsRun& run, const Charter& charter, const Reference& reference,
          ByRound& rounds) {
  const std::vector<double> end = {reference.pooled.at(whole_model(charter, run.parts))};
  const std::vector<double>& fitness = run.by_round.empty() ? end : run.by_round;
  rounds.resize(std::max(rounds.size(), fitness.size()));
  for (size_t k = 0; k < fitness.size(); ++k) rounds[k].push_back(reference.relative(fitness[k]));
}

}  // namespace

Result<SimulateResult> simulate_columns(const SimulateInput& input, const SimulateOptions& options,
                                        const ColumnsJob& job) {
  const auto started = std::chrono::steady_clock::now();
  const Charter& charter = input.charter;
  TRY(check_same_records(input));
  if (!options.out.empty()) TRY(clear_ledgers(charter, options.out));
  const Joined joined = join(input, job.plan);
  Reference reference{fitness_of(charter, *joined.all, options.threads), {}};
  reference.optimum = reference.pooled.minimum(charter.model.box);

  ByRound rounds;
  std::optional<ColumnsRun> first;
  for (uint64_t number = 0; number < options.runs; ++number) {
    ColumnsRun run = TRY(job.train(joined, number));
    note(run, charter, reference, rounds);
    if (!first) first = std::move(run);
  }
  SimulateResult result{
      .charter_name = charter.name,
      .charter_hash = to_hex(charter.hash),
      .seed = options.seed,
      .runs = options.runs,
      .calibration = std::string(name_of(charter.privacy.calibration)),
      .why_not_private = {job.why_not_private, "fitness was measured on private rows"},
      .optimum = reference.optimum,
      .columns = true,
      .loss = std::string(name_of(charter.model.loss)),
      .penalty = charter.model.l1 > 0 ? "l1" : "l2",
      .target = charter.schema.target,
      .bytes_up = first->bytes_up,
      .bytes_down = first->bytes_down,
      .threads = options.threads};
  for (const auto& round : rounds) result.by_round.push_back(spread_of(round));
  result.relative_fitness = result.by_round.back();
  const double joint = result.relative_fitness.mean;
  result.owners = owners_of(input, joined, job, reference, *first, joint, options.threads);
  for (double& value : rounds.back()) value = reference.optimum.fitness * (1 + value);
  result.fitness = spread_of(rounds.back());
  result.joint_metrics = metrics(charter, *joined.all, whole_model(charter, first->parts));
  result.optimum_metrics = metrics(charter, *joined.all, reference.optimum.theta);
  if (!options.out.empty() && first->manifest) {
    result.model = options.out / "manifest.json";
    TRY(write_file(result.model, *first->manifest));
  }
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace parley::sim
