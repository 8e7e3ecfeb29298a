#include "parley/sim/columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/learn/metrics.h"
#include "parley/learn/vertical/integer_rows.h"
#include "parley/plan/vertical_terms.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/literal.h"

namespace parley::sim {
namespace {

using charter::Charter;

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

/// As the training sees them: cells without a dealer, else shortened and rounded.
learn::IntegerRows integers_of(const SimulateInput& input, const learn::JointPlan& plan, size_t m) {
  const data::Schema part = plan::part_schema(input.charter, m);
  if (!part.in_cells()) return {input.owners[m].rows, plan.bits, plan.row_norms[m]};
  const learn::CellColumns cells(part, plan.bits, std::nullopt);
  return std::move(cells.integers(cells.leaves(input.owners[m].rows)).rows);
}

Joined join(const SimulateInput& input, const learn::JointPlan& plan) {
  const auto places = places_of(input.charter);
  Joined joined{std::make_shared<data::Rows>(input.charter.schema.features().size())};
  const data::AnyRows& labels = input.owners[label_holder(input.charter)].rows;
  std::vector<learn::IntegerRows> parts;
  for (size_t m = 0; m < places.size(); ++m) {
    parts.push_back(integers_of(input, plan, m));
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
  return metrics_of(charter, learn::predict(model, rows), labels);
}

learn::Fitness fitness_on(const Charter& charter, const data::Rows& rows, int threads) {
  learn::Fitness fitness(charter::loss_of(charter.model), rows.columns(), charter.model.l2, threads,
                         charter.model.l1);
  fitness.add(rows);
  return fitness;
}

/// What an owner's columns alone would reach with the labels.
double fitness_alone(const Charter& charter, const Joined& joined, const Reference& reference,
                     size_t owner, int threads) {
  std::vector<std::vector<double>> alone(charter.owners.size());
  alone[owner] = fitness_on(charter, *joined.own[owner], threads).minimum(charter.model.box).theta;
  return reference.pooled.at(whole_model(charter, alone));
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

/// Of the noise: on the mean gradient or moment, or, under noisy sharing, on one score.
double noise_scale(const plan::VerticalTerms& terms) {
  if (terms.noisy) return std::ldexp(terms.noise.scale(), -terms.noisy->fraction);
  if (terms.beside)  // Of products of two owners' columns, to which both add it without a dealer.
    return std::ldexp(terms.beside->scale(), -2 * terms.plan.bits) / double(terms.plan.rows) *
           (terms.cells.empty() ? 1 : std::sqrt(2.0));
  return terms.deviation() * terms.unit() / double(terms.plan.rows);
}

Result<ColumnsRun> train(const SimulateInput& input, const SimulateOptions& options, uint64_t run) {
  JobRun job = TRY(run_job({.input = input, .options = options, .run = run, .journal = false}));
  ColumnsRun done{.parts = std::move(job.parts),
                  .manifest = std::move(job.trained.manifest),
                  .bytes_up = job.bytes_up,
                  .bytes_down = job.bytes_down};
  for (const JobRun::Owner& owner : job.owners)
    done.owners.push_back({owner.spent.epsilon, owner.taken});
  return done;
}

/// Owners with ledgers, a dealer, and everything in bytes.
Result<ColumnsJob> private_job(const SimulateInput& input, const SimulateOptions& options) {
  const plan::VerticalTerms terms = TRY(plan::vertical_terms(input.charter));
  return ColumnsJob{.plan = terms.plan,
                    .why_not_private = "simulation: the noise can be replayed from its seed",
                    .noise_scale = noise_scale(terms),
                    .train = [&input, &options](const Joined&, uint64_t run) {
                      return train(input, options, run);
                    }};
}

/// Fitness after each round, or only at the end.
RunOutcome outcome_of(const Charter& charter, const ColumnsJob& job, ColumnsRun run,
                      const Reference& reference) {
  RunOutcome outcome{.model = whole_model(charter, run.parts),
                     .manifest = std::move(run.manifest),
                     .bytes_up = run.bytes_up,
                     .bytes_down = run.bytes_down};
  for (const double fitness : run.by_round) outcome.by_round.push_back(reference.relative(fitness));
  if (run.by_round.empty()) outcome.by_round = {reference.relative_at(outcome.model)};
  for (const ColumnsRun::Owner& owner : run.owners)
    outcome.owners.push_back({.spent = {.epsilon = owner.epsilon_spent},
                              .answers = owner.answers,
                              .weight = 1 / double(charter.owners.size()),
                              .noise_scale = job.noise_scale});
  return outcome;
}

}  // namespace

Result<Simulation> simulation_of_columns(const SimulateInput& input, const SimulateOptions& options,
                                         const Literal* paper) {
  const Charter& charter = input.charter;
  const bool admm = !charter.protocol.protects();
  const auto job = TRY(admm ? paper->columns(input, options) : private_job(input, options));
  TRY(check_same_records(input));
  if (!options.out.empty()) TRY(clear_ledgers(charter, options.out));
  const auto joined = std::make_shared<const Joined>(join(input, job.plan));
  Reference reference{fitness_on(charter, *joined->all, options.threads)};
  reference.optimum = reference.pooled.minimum(charter.model.box);
  return Simulation{
      .reference = std::move(reference),
      .run = [&charter, job, joined](const Reference& against, uint64_t run) -> Result<RunOutcome> {
        return outcome_of(charter, job, TRY(job.train(*joined, run)), against);
      },
      .alone =
          [&charter, joined, threads = options.threads](const Reference& against, size_t owner) {
            return fitness_alone(charter, *joined, against, owner, threads);
          },
      .metrics =
          [&charter, joined](const std::vector<double>& theta) {
            return metrics(charter, *joined->all, theta);
          },
      .why_not_private = {job.why_not_private, "fitness was measured on private rows"},
      .protects = job.protects};
}

}  // namespace parley::sim
