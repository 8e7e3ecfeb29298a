// Forecasts beside Monte Carlo on a grid of rows and epsilons: three owners,
// Algorithm 2 with 100 answers, and asynchronous descent with 1,000 rounds. Prints a Markdown
// table.
//
//   forecast_accuracy_bench [RUNS [THREADS]]
//
// Runs go over 7,500 rows of a stand-in, with the noise that n_i rows of each owner would have; the
// forecast reads the same rows ("true moments"), or 10,000 other ones ("pilot").
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/sim/monte_carlo/monte_carlo.h"
#include "parley/sim/standin/standin.h"

namespace {

using namespace parley;
using SharedRows = std::shared_ptr<const data::Rows>;
namespace mc = sim::monte_carlo;

constexpr size_t kOwners = 3, kEach = 2500, kPilot = 10000;
constexpr uint32_t kAnswers = 100;

struct Data {
  std::vector<SharedRows> owners{};
  SharedRows all{}, pilot{};
};

struct Case {
  const char* name;
  const char* standin;
  charter::Model charter;
  double clip, step;
  bool shrink_rows, enforced;  // rows shrunk once; gradients clipped
  bool asynchronous = false;
};

/// Records as the model sees them: classes by the label's sign, a bias, rows shrunk to the clip.
void add(data::Rows& rows, std::vector<double> z, double y, const Case& model) {
  const bool classes = model.charter.loss != charter::Loss::kSquared;
  if (classes) z.push_back(1), y = y > 0 ? 1 : -1;
  double norm = 0;
  for (double value : z) norm += std::fabs(value);
  if (model.shrink_rows && norm > model.clip)
    for (double& value : z) value *= model.clip / norm;
  rows.add(z, y);
}

Data make_data(const Case& model) {
  const auto standin = *sim::make_standin({.name = model.standin,
                                           .owners = std::vector<uint64_t>(kOwners, kEach),
                                           .pilot = kPilot,
                                           .seed = 5,
                                           .drift = 0});
  const bool lending = std::string(model.standin) == "lending";
  const size_t p = standin.columns.size() + (model.charter.loss != charter::Loss::kSquared ? 1 : 0);
  Data data;
  auto all = std::make_shared<data::Rows>(p), pilot = std::make_shared<data::Rows>(p);
  std::vector<double> z(standin.columns.size());
  double y = 0;
  for (size_t i = 0; i < kOwners * kEach + kPilot; ++i) {
    standin.draw(i, z, y);
    if (lending) y = (y - 13.25) / 15.75;
    if (i < kOwners * kEach && i % kEach == 0)
      data.owners.push_back(std::make_shared<data::Rows>(p));
    if (i < kOwners * kEach) {
      add(const_cast<data::Rows&>(*data.owners.back()), z, y, model);
      add(*all, z, y, model);
    } else {
      add(*pilot, z, y, model);
    }
  }
  data.all = all, data.pilot = pilot;
  return data;
}

learn::ClipIn norm_of(const Case& model) {
  return model.enforced ? learn::ClipIn::kL1 : learn::ClipIn::kNone;
}

double scale_of(const Case& model, double rows, double epsilon) {
  const double answers = model.asynchronous ? 334 : kAnswers;
  return 2 * model.clip * answers / (rows * epsilon);
}

learn::AsyncRule async_rule(const Case& model, size_t p) {
  learn::AsyncRule rule{.step = model.step,
                        .l2 = model.charter.l2,
                        .box = model.charter.box,
                        .dimension = p,
                        .rounds = 1000,
                        .output = learn::AsyncOutput::kTail};
  for (size_t i = 0; i < kOwners; ++i) rule.add(1.0 / kOwners, 1);
  rule.set_steps();
  return rule;
}

learn::Schedule schedule_of(const Case& model, size_t p) {
  return learn::algorithm2(kAnswers, model.step, learn::Average::kPaper, std::vector<double>(p));
}

struct Forecasts {
  double excess = 0, fitness = 0, gain = 1;
  std::string predictor{};
};

Forecasts forecast(const Case& model, const forecast::PilotStatistics& statistics, double scale,
                   int threads) {
  const double variance = 2 * scale * scale;
  if (model.asynchronous) {
    const auto found = forecast::predict(
        statistics,
        forecast::AsyncJob{async_rule(model, statistics.dimension()), norm_of(model), model.clip,
                           std::vector<double>(kOwners, variance),
                           std::vector<double>(kOwners, kEach)},
        {.threads = threads});
    return {found.excess, statistics.optimum.fitness, found.smallest_gain, found.predictor};
  }
  const auto found =
      forecast::predict(statistics,
                        forecast::SyncJob{schedule_of(model, statistics.dimension()), 0,
                                          norm_of(model), model.clip, variance / kOwners},
                        {.threads = threads});
  return {found.excess, statistics.optimum.fitness, found.smallest_gain, found.predictor};
}

/// As forecast/warnings.cc warns.
std::string warned(const Case& model, const Forecasts& found) {
  const double psi = found.excess / found.fitness;
  if (found.gain < .9) return "box";
  if (found.predictor == "pilot_monte_carlo") return "by runs";
  return model.charter.loss == charter::Loss::kHinge && psi < 2e-3 ? "hinge floor" : "";
}

void compare(const Case& model, uint64_t runs, int threads) {
  const Data data = make_data(model);
  const size_t p = data.all->columns();
  const auto loss = charter::loss_of(model.charter);
  mc::Population population({loss, model.charter.l2, model.charter.box, norm_of(model), model.clip},
                            p, mc::Precision::kSingle, threads);
  for (const SharedRows& rows : data.owners) population.add(*rows);
  const auto own = forecast::statistics_of(model.charter, data.all);
  const auto pilot = forecast::statistics_of(model.charter, data.pilot);
  for (const double rows : {1e4, 3e4, 1e5})
    for (const double epsilon : {.1, 1.0, 10.0}) {
      const double scale = scale_of(model, rows, epsilon);
      mc::Job job{.population = population,
                  .rule = schedule_of(model, p),
                  .cells = {{std::vector<double>(kOwners, scale)}},
                  .runs = runs};
      if (model.asynchronous) job.rule = mc::Async{async_rule(model, p)};
      const auto found = (*mc::run(job, {.threads = threads}))[0].spread();
      const Forecasts true_moments = forecast(model, own, scale, threads);
      const Forecasts public_rows = forecast(model, pilot, scale, threads);
      const double psi = true_moments.excess / true_moments.fitness;
      const double absolute = found.mean * own.optimum.fitness;
      std::printf("| %s | %.0e | %g | %.3g | %.1f | %.3g | **%+.1f** | %+.1f | %s | %s |\n",
                  model.name, rows, epsilon, found.mean, 100 * found.standard_error / found.mean,
                  psi, 100 * (psi / found.mean - 1), 100 * (public_rows.excess / absolute - 1),
                  true_moments.predictor.c_str(), warned(model, true_moments).c_str());
      std::fflush(stdout);
    }
}

charter::Model charter_model(charter::Loss loss, double l2, double box) {
  charter::Model model;
  model.loss = loss, model.l2 = l2, model.box = box;
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  using charter::Loss;
  std::printf(
      "| model | n_i | ε | ψ of %llu runs | s.e. %% | forecast | error %% | from a pilot %% | "
      "predictor | warned |\n",
      static_cast<unsigned long long>(runs));
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  const Case models[] = {
      {"linear", "lending", charter_model(Loss::kSquared, 0, 1e6), 6, .5, false, false},
      {"asynchronous linear", "lending", charter_model(Loss::kSquared, 2e-5, 1e6), 6, .25, false,
       false, true},
      {"linear, clip 6, box 1", "lending", charter_model(Loss::kSquared, 0, 1), 6, .5, false, true},
      {"logistic", "lending", charter_model(Loss::kLogistic, .01, 4), 12, 2, true, true},
      {"SVM", "credit", charter_model(Loss::kHinge, 1, 2), 30, 1, true, true}};
  for (const Case& model : models) compare(model, runs, threads);
}
