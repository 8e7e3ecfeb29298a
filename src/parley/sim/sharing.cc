#include "parley/sim/sharing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "parley/base/files.h"
#include "parley/learn/metrics.h"
#include "parley/protocol/sharing/sharing_setting.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/outcome.h"
#include "parley/sim/world.h"

namespace parley::sim {
namespace {

using charter::Charter;

/// Where each owner's features lie among all features of the charter.
std::vector<std::vector<size_t>> places_of(const Charter& charter) {
  const std::vector<std::string> all = charter.schema.features();
  std::vector<std::vector<size_t>> places;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    places.emplace_back();
    for (const std::string& name : gate::part_schema(charter, i).features())
      places.back().push_back(size_t(std::find(all.begin(), all.end(), name) - all.begin()));
  }
  return places;
}

/// The records as the training sees them, columns side by side, or those of one owner.
struct Joined {
  std::shared_ptr<learn::Rows> all;
  std::vector<std::shared_ptr<learn::Rows>> own{};
};

Joined join(const SimulateInput& input, const gate::SharingTerms& terms) {
  const auto places = places_of(input.charter);
  Joined joined{std::make_shared<learn::Rows>(input.charter.schema.features().size())};
  std::vector<learn::IntegerRows> parts;
  for (size_t m = 0; m < places.size(); ++m) {
    parts.emplace_back(input.owners[m].rows, terms.plan.bits, terms.plan.row_norms[m]);
    joined.own.push_back(std::make_shared<learn::Rows>(places[m].size()));
  }
  for (size_t i = 0; i < terms.plan.rows; ++i) {
    const double y = std::visit([&](const auto& rows) { return rows->label(i); },
                                input.owners[terms.label_holder].rows);
    std::vector<double> z(joined.all->columns());
    for (size_t m = 0; m < parts.size(); ++m) {
      std::vector<double> own(places[m].size());
      for (size_t k = 0; k < parts[m].at(i).size(); ++k)
        own[parts[m].at(i)[k]] = std::ldexp(double(parts[m].values(i)[k]), -terms.plan.bits);
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

std::vector<learn::Metric> metrics(const Charter& charter, const learn::Rows& rows,
                                   const std::vector<double>& theta) {
  const learn::Model model{.theta = theta, .schema = charter.schema};
  const learn::Target& target = charter.schema.target;
  std::vector<double> labels;
  for (size_t i = 0; i < rows.size(); ++i)
    labels.push_back(target.center + target.scale * rows.label(i));
  return learn::metrics_of(
      target.levels.empty() ? learn::Output::kValue : learn::Output::kClassScore,
      learn::predict(model, rows), labels);
}

learn::Fitness fitness_of(const Charter& charter, const learn::Rows& rows, int threads) {
  learn::Fitness fitness(charter::loss_of(charter.model), rows.columns(), charter.model.l2,
                         threads);
  fitness.add(rows);
  return fitness;
}

/// What a run comes to: every owner's part of the model, and what it has spent.
struct Run {
  std::vector<std::vector<double>> parts{};
  std::vector<JobRun::Owner> owners{};
  std::optional<std::string> manifest{};
  uint64_t bytes_up = 0, bytes_down = 0;
};

/// Of the noise: on the mean gradient or moment, or, under noisy sharing, on one score.
double noise_scale(const gate::SharingTerms& terms) {
  if (terms.noisy) return std::ldexp(terms.noise.scale(), -terms.noisy->fraction);
  if (terms.beside)
    return std::ldexp(terms.beside->scale(), -2 * terms.plan.bits) / double(terms.plan.rows);
  return terms.noise.scale() * terms.plan.unit() / double(terms.plan.rows);
}

/// What an owner's columns alone would reach with the labels, and what the job did for it.
std::vector<SimulateResult::Owner> owners_of(const SimulateInput& input, const Joined& joined,
                                             const gate::SharingTerms& terms,
                                             const Reference& reference, const Run& run,
                                             double joint, int threads) {
  const Charter& charter = input.charter;
  std::vector<SimulateResult::Owner> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    std::vector<std::vector<double>> alone(charter.owners.size());
    alone[i] = fitness_of(charter, *joined.own[i], threads).minimum(charter.model.box).theta;
    SimulateResult::Owner owner{.name = charter.owners[i].name,
                                .source = input.owners[i].source,
                                .rows = terms.plan.rows,
                                .epsilon = charter.owners[i].epsilon,
                                .delta = charter.owners[i].delta,
                                .epsilon_spent = run.owners[i].spent.epsilon,
                                .answers = run.owners[i].taken,
                                .weight = 1 / double(charter.owners.size()),
                                .noise_scale = noise_scale(terms),
                                .joint = joint};
    owner.local_fitness = reference.pooled.at(whole_model(charter, alone));
    owner.local_only = reference.relative(owner.local_fitness);
    owner.gains = owner.joint < owner.local_only;
    owners.push_back(std::move(owner));
  }
  return owners;
}

Result<Run> train(const SimulateInput& input, const SimulateOptions& options, uint64_t run) {
  JobRun job = TRY(run_job(
      {.input = input, .options = options, .run = run, .after = [&](const protocol::Learner&) {
         options.progress(input.charter.owners.size());
       }}));
  return Run{std::move(job.parts), std::move(job.owners), std::move(job.trained.manifest),
             job.bytes_up, job.bytes_down};
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

}  // namespace

Result<std::unique_ptr<protocol::Owner>> sharing_process(Party& party, const Charter& charter,
                                                         const Hash& records, uint64_t seed,
                                                         uint64_t run,
                                                         const std::filesystem::path& out,
                                                         const std::optional<Secret32>& secret) {
  auto gate = TRY(party.open_columns_gate());
  auto setting = TRY(protocol::sharing_setting(charter, gate.terms(), party.place(),
                                               {.started = SimulatedClock().now(), .seed = seed}));
  SeededEntropy own(seed, party.name() + "'s secret", run);
  setting.records = records;
  for (protocol::SharingPeer& peer : setting.owners) peer.sign_key.reset();  // Nobody signs here.
  setting.secret = secret ? *secret : protocol::draw_secret(own);
  if (!out.empty())
    setting.keep = [file = out / "simulated" / party.name()](const std::string& name,
                                                             const std::string& text) {
      return write_file(file / name, text);
    };
  return std::unique_ptr<protocol::Owner>(std::make_unique<protocol::SharingOwner>(
      std::move(setting), std::move(gate), party.entropy()));
}

Result<SimulateResult> simulate_sharing(const SimulateInput& input,
                                        const SimulateOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const Charter& charter = input.charter;
  const gate::SharingTerms terms = TRY(gate::sharing_terms(charter));
  TRY(check_same_records(input));
  if (!options.out.empty()) TRY(clear_ledgers(charter, options.out));
  const Joined joined = join(input, terms);
  Reference reference{fitness_of(charter, *joined.all, options.threads), {}};
  reference.optimum = reference.pooled.minimum(charter.model.box);

  std::vector<double> relative;
  std::optional<Run> first;
  for (uint64_t number = 0; number < options.runs; ++number) {
    Run run = TRY(train(input, options, number));
    relative.push_back(reference.relative(reference.pooled.at(whole_model(charter, run.parts))));
    if (!first) first = std::move(run);
  }
  SimulateResult result{.charter_name = charter.name,
                        .charter_hash = to_hex(charter.hash),
                        .seed = options.seed,
                        .runs = options.runs,
                        .calibration = std::string(name_of(charter.privacy.calibration)),
                        .why_not_private = {"simulation: the noise can be replayed from its seed",
                                            "fitness was measured on private rows"},
                        .optimum = reference.optimum,
                        .relative_fitness = spread_of(relative),
                        .by_round = {spread_of(relative)},
                        .loss = std::string(name_of(charter.model.loss)),
                        .target = charter.schema.target,
                        .bytes_up = first->bytes_up,
                        .bytes_down = first->bytes_down,
                        .threads = options.threads};
  const double joint = result.relative_fitness.mean;
  result.owners = owners_of(input, joined, terms, reference, *first, joint, options.threads);
  for (double& value : relative) value = reference.optimum.fitness * (1 + value);
  result.fitness = spread_of(relative);
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
