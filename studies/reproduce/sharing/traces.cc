#include "studies/reproduce/sharing/traces.h"

#include <fmt/format.h>

#include <numeric>

#include "parley/learn/fitness.h"
#include "parley/learn/vertical/admm/columns.h"
#include "parley/learn/vertical/admm/fdml.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::reproduce::sharing {
namespace {

Series series_of(const std::vector<double>& y, std::string name, bool sound) {
  Series series{.name = std::move(name), .y = y, .sound = sound};
  for (size_t k = 0; k < y.size(); ++k) series.x.push_back(double(k + 1));
  return series;
}

template <class Models>
std::vector<double> joined(const Models& models) {
  std::vector<double> all;
  for (const auto& model : models) all.insert(all.end(), model.begin(), model.end());
  return all;
}

std::vector<double> joined(const std::vector<learn::PartyStep>& parties) {
  std::vector<std::vector<double>> models;
  for (const auto& party : parties) models.emplace_back(party.model().begin(), party.model().end());
  return joined(models);
}

learn::Fitness fitness_of(const data::AnyRows& rows, double l2, int threads) {
  learn::Fitness fitness(learn::Logistic{}, data::columns_of(rows), l2, threads);
  std::visit([&](const auto& kind) { fitness.add(*kind); }, rows);
  return fitness;
}

/// Few columns: the certified optimum. Many: a model as good as that by sharing with one party,
/// whose factor is cheaper than the curvature of every step.
Alone trained_alone(const data::AnyRows& train, const data::AnyRows& test, double lam,
                    const Study& study) {
  constexpr size_t kFew = 500;
  const double l2 = lam / double(data::size_of(train));
  const learn::Fitness on_test = fitness_of(test, 0, study.threads);
  if (data::columns_of(train) <= kFew) {
    const learn::Optimum best = fitness_of(train, l2, study.threads).minimum(1e4);
    return {best.fitness, on_test.at(best.theta)};
  }
  const auto labels = labels_of(train);
  const auto result = learn::share_by_admm(
      {train}, labels,
      {.lam = lam, .rounds_max = 400, .tolerance = 1e-6, .threads = study.threads});
  check(bool(result));
  return {result->rounds.back().objective, on_test.at(result->models[0])};
}

}  // namespace

Series Trace::objectives(std::string name, bool sound) const {
  return series_of(objective, std::move(name), sound);
}

Series Trace::test_losses(std::string name, bool sound) const {
  return series_of(test_loss, std::move(name), sound);
}

double test_loss(const ColumnsApart& columns, const std::vector<double>& model) {
  return fitness_of(columns.test, 0, 1).at(model);
}

Trace by_admm(const ColumnsApart& columns, learn::AdmmOptions options, const Study& study) {
  Trace trace;
  options.threads = study.threads;
  const auto labels = labels_of(columns.train);
  const auto result = learn::share_by_admm(
      blocks_of(columns), labels, options, {.after_round = [&](const learn::AdmmHooks::View& view) {
        trace.objective.push_back(view.round.objective);
        trace.test_loss.push_back(test_loss(columns, joined(view.parties)));
      }});
  if (!result) trace.stopped = result.error().what;
  return trace;
}

Result<Trace> by_noisy_admm(const ColumnsApart& columns, const paper::ColumnNoises& noises,
                            learn::AdmmOptions options, double sigma, const Study& study) {
  options.threads = study.threads;
  sim::SeededEntropy entropy(study.seed, "noise of sharing");
  const auto labels = labels_of(columns.train);
  const auto result =
      TRY(paper::share_with_noise(blocks_of(columns), noises, labels, options, sigma, entropy));
  Trace trace;
  for (size_t t = 0; t < result.value.rounds.size(); ++t) {
    trace.objective.push_back(result.value.rounds[t].objective);
    trace.test_loss.push_back(test_loss(columns, joined(result.value.models_by_round[t])));
  }
  return trace;
}

Trace by_gradients(const ColumnsApart& columns, double lam, double step, const Study& study) {
  Trace trace;
  sim::SeededEntropy entropy(study.seed, "order of records");
  const auto labels = labels_of(columns.train);
  learn::share_by_sgd(
      blocks_of(columns), labels,
      {.l2 = lam / double(labels.size()), .step = step, .epochs = kEpochs}, entropy,
      [&](const learn::FdmlEpoch& epoch, const std::vector<std::vector<double>>& models) {
        trace.objective.push_back(epoch.objective);
        trace.test_loss.push_back(test_loss(columns, joined(models)));
      });
  return trace;
}

Alone first_party(const ColumnsApart& columns, double lam, const Study& study) {
  const size_t count = columns.parties.front();
  return trained_alone(learn::columns_between(columns.train, 0, count),
                       learn::columns_between(columns.test, 0, count), lam, study);
}

Alone all_in_one_place(const ColumnsApart& columns, double lam, const Study& study) {
  const std::string key = fmt::format("{} in one place, λ = {}", columns.source, lam);
  if (const auto known = study.computed->find(key); known != study.computed->end())
    return std::any_cast<Alone>(known->second);
  const Alone found = trained_alone(columns.train, columns.test, lam, study);
  study.computed->emplace(key, found);
  return found;
}

Axis epochs() { return {.label = "epoch", .unit = "", .log = false}; }
Axis objective_axis() {
  return {.label = "training objective per record", .unit = "", .log = true};
}
Axis test_axis() { return {.label = "test log loss", .unit = "", .log = true}; }

Figure sharing_figure(const Study& study, std::string id, std::string item, std::string title,
                      std::string claim) {
  Figure figure{.id = std::move(id),
                .paper = "Hu et al.",
                .item = std::move(item),
                .title = std::move(title),
                .claim = std::move(claim),
                .seed = study.seed,
                .runs = 1};
  return figure;
}

}  // namespace parley::reproduce::sharing
