// Forecasts of federated jobs and of columns in several places beside simulated runs of the whole
// protocols. Prints Markdown tables.
//
//   forecast_protocols_bench [federated|sharing] [RUNS [THREADS]]
//
// The forecast reads 4,000 public rows of a stand-in; the owners' rows are others of the same
// stand-in, drawn alike or sorted by label as far as a table says.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "parley/base/math/number.h"
#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"
#include "parley/forecast/forecast.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/fitness.h"
#include "parley/sim/simulate.h"
#include "parley/sim/standin/standin.h"

namespace {

using namespace parley;
using SharedRows = std::shared_ptr<const data::Rows>;

constexpr size_t kPilot = 4000;

struct Table {
  std::vector<std::vector<double>> z{};
  std::vector<double> y{};
};

/// Wide: many features that each say a little.
Table draw_wide(size_t rows, size_t columns) {
  Table table;
  SeededRandom random(17, 0);
  for (size_t i = 0; i < rows; ++i) {
    std::vector<double> z(columns);
    double score = 0;
    for (size_t j = 0; j < columns; ++j) {
      z[j] = random.normal() / std::sqrt(double(columns));
      score += (j % 2 ? 1 : -1) * z[j] * (j < columns / 2 ? 1.5 : 1);
    }
    table.z.push_back(std::move(z));
    table.y.push_back(score + .5 * random.normal() > 0 ? 1 : -1);
  }
  return table;
}

/// Loans: features scaled to a length of about 1, the rate as a number in -1 .. 1 or its sign.
Table draw(size_t rows, int components, bool classes, bool bias) {
  if (components > 22) return draw_wide(rows + kPilot, size_t(components));
  const auto standin = *sim::make_standin({.name = "lending",
                                           .owners = {rows},
                                           .pilot = kPilot,
                                           .seed = 5,
                                           .drift = 0,
                                           .components = components});
  Table table;
  std::vector<double> z(standin.columns.size());
  for (size_t i = 0; i < rows + kPilot; ++i) {
    double y = 0;
    standin.draw(i, z, y);
    std::vector<double> own = z;
    for (double& value : own) value /= 4;
    if (bias) own.push_back(.5);
    y = std::clamp((y - 13.25) / 15.75, -1.0, 1.0);
    table.z.push_back(std::move(own));
    table.y.push_back(classes ? (y > 0 ? 1 : -1) : y);
  }
  return table;
}

SharedRows some(const Table& table, const std::vector<size_t>& which) {
  auto rows = std::make_shared<data::Rows>(table.z[0].size());
  for (const size_t i : which) rows->add(table.z[i], table.y[i]);
  return rows;
}

SharedRows pilot_of(const Table& table) {
  std::vector<size_t> which;
  for (size_t i = table.y.size() - kPilot; i < table.y.size(); ++i) which.push_back(i);
  return some(table, which);
}

/// Shares of the rows go to owners by label, the others as they come.
std::vector<SharedRows> divided(const Table& table, size_t owners, double sorted) {
  const size_t rows = table.y.size() - kPilot, each = rows / owners;
  std::vector<size_t> order, rest;
  for (size_t i = 0; i < rows; ++i) (double(i % 100) < 100 * sorted ? order : rest).push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return table.y[a] < table.y[b]; });
  std::vector<std::vector<size_t>> which(owners);
  for (size_t k = 0; k < order.size(); ++k) which[k * owners / order.size()].push_back(order[k]);
  size_t next = 0;
  for (auto& own : which)
    while (own.size() < each && next < rest.size()) own.push_back(rest[next++]);
  std::vector<SharedRows> found;
  for (auto& own : which) {
    own.resize(std::min(own.size(), each));
    found.push_back(some(table, own));
  }
  return found;
}

std::string head(const std::string& target) {
  return "[charter]\nversion = 1\nname = \"bench\"\nconsortium = \"bench.example\"\n[target]\n" +
         target;
}

charter::Charter parsed(const std::string& text) {
  auto charter = charter::parse_charter(text, "bench.toml", ".");
  if (!charter) std::fprintf(stderr, "%s\n%s\n", describe(charter.error()).c_str(), text.c_str());
  check(bool(charter));
  return *charter;
}

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", describe(result.error()).c_str());
  check(bool(result));
  return *std::move(result);
}

std::string warned(const forecast::Forecast& found) {
  std::string codes;
  for (const auto& warning : found.advice.warnings)
    for (const char* code :
         {"box_saturation", "by_runs", "local_steps_drift", "owners_far_apart", "few_rows"})
      if (warning.code == code) codes += (codes.empty() ? "" : ", ") + warning.code;
  return codes;
}

SharedRows pooled(const std::vector<SharedRows>& owners) {
  auto all = std::make_shared<data::Rows>(owners[0]->columns());
  for (const auto& rows : owners)
    for (size_t i = 0; i < rows->size(); ++i) all->add(rows->row(i), rows->label(i));
  return all;
}

struct Federated {
  const char* name;
  bool classes;
  double sorted;
  size_t owners, each;
  int64_t rounds, steps;
  double epsilon;
};

charter::Charter federated_charter(const Federated& job, size_t columns) {
  std::string text =
      head(job.classes ? "column = \"y\"\nlevels = [\"a\", \"b\"]\n"
                       : "column = \"y\"\nbounds = [-1, 1]\n") +
      "[[column]]\nname = \"x\"\nkind = \"number\"\nbounds = [-9, 9]\nmissing = 0\ncount = " +
      std::to_string(columns) + "\n[model]\nloss = \"" + (job.classes ? "logistic" : "squared") +
      "\"\nl2 = 0.001\nbox = 8.0\n[protocol]\nname = \"federated\"\nrounds = " +
      std::to_string(job.rounds) + "\nlocal_steps = " + std::to_string(job.steps) +
      "\nstep = " + (job.classes ? "3.5" : "0.5") + "\n[privacy]\nmax_row_norm = 1.0\n" +
      (job.classes ? "" : "max_grad_norm = 1.0\n") + "[learner]\nname = \"l\"\n";
  for (size_t i = 0; i < job.owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) + "\"\nrows = " + std::to_string(job.each) +
            "\nepsilon = " + shortest(job.epsilon) + "\ndelta = 1e-6\n";
  return parsed(text);
}

/// What owners' best models miss on all rows, less what so few rows miss by chance.
double declared(const charter::Charter& charter, const std::vector<SharedRows>& owners,
                double by_chance) {
  const auto loss = charter::loss_of(charter.model);
  learn::Fitness all(loss, owners[0]->columns(), charter.model.l2);
  std::vector<SharedRows> shrunk;
  for (const auto& rows : owners)
    shrunk.push_back(std::get<SharedRows>(learn::shrunk(rows, charter.privacy.max_row_norm)));
  for (const auto& rows : shrunk) all.add(*rows);
  const double best = all.minimum(charter.model.box).fitness;
  double missed = 0;
  for (const auto& rows : shrunk) {
    learn::Fitness own(loss, rows->columns(), charter.model.l2);
    own.add(*rows);
    missed += all.at(own.minimum(charter.model.box).theta) / best - 1;
  }
  return std::max(missed / static_cast<double>(owners.size()) - by_chance, 0.0);
}

void compare(const Federated& job, uint64_t runs, int threads) {
  if (job.owners > 4) runs = std::max<uint64_t>(2, runs / 3);  // Their keys take their time.
  const Table table = draw(job.owners * job.each, 10, job.classes, true);
  const auto owners = divided(table, job.owners, job.sorted);
  const charter::Charter charter = federated_charter(job, table.z[0].size());
  const SharedRows pilot = pilot_of(table);
  forecast::ForecastOptions how{.threads = threads};
  if (job.sorted > 0) {
    const auto alike = must(forecast::forecast(charter, pilot, how));
    how.differ = declared(charter, owners, alike.owners[0].local_only);
  }
  const auto found = must(forecast::forecast(charter, pilot, how));
  sim::SimulateInput input{.charter = charter, .owners = {}, .pilot = pilot, .policies = {}};
  for (const auto& rows : owners) input.owners.push_back({rows, "bench", {}});
  const auto done = must(sim::simulate(input, {.seed = 3, .runs = runs, .threads = threads}));
  const double mean = done.quality.relative_fitness.mean;
  const double same =
      must(forecast::forecast(charter, pooled(owners), how)).joint.relative_fitness.mean;
  const forecast::RelativeFitness& psi = found.joint.relative_fitness;
  std::printf(
      "| %s | %zu | %lld x %lld | %g | %.3g | %llu | %.3g | %.1f | **%+.1f** | %.3g | %+.1f | %.3g "
      "to "
      "%.3g%s | %.2g | %s | %s |\n",
      job.name, job.owners, static_cast<long long>(job.rounds), static_cast<long long>(job.steps),
      job.epsilon, how.differ, static_cast<unsigned long long>(runs), mean,
      100 * done.quality.relative_fitness.standard_error / mean, 100 * (same / mean - 1), psi.mean,
      100 * (psi.mean / mean - 1), psi.low, psi.high,
      mean >= psi.low && mean <= psi.high ? "" : " (outside)", psi.drift,
      found.basis.predictor.c_str(), warned(found).c_str());
  std::fprintf(stderr, "bytes: up %.0f down %.0f of an owner, forecast %.0f both\n",
               double(done.traffic.bytes_up) / double(job.owners),
               double(done.traffic.bytes_down) / double(job.owners),
               double(found.cost.bytes_per_owner));
  std::fflush(stdout);
}

void federated(uint64_t runs, int threads) {
  std::printf(
      "| model | m | R x K | ε | declared τ² | runs | ψ of them | s.e. %% | error %% from the same "
      "rows | forecast from a pilot | error %% | 90 %% interval | drift | predictor | warned "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const size_t owners : {4, 12})
    for (const double epsilon : {.3, 1.0, 3.0})
      for (const int64_t steps : {1, 5, 20}) {
        if (owners > 4 && steps == 1) continue;  // a hundred aggregations
        compare({"logistic", true, 0, owners, 24000 / owners, 100 / steps, steps, epsilon}, runs,
                threads);
        compare({"clamped squares", false, 0, owners, 24000 / owners, 100 / steps, steps, epsilon},
                runs, threads);
      }
  for (const double sorted : {.3, 1.0})
    for (const int64_t steps : {5, 20})
      compare({sorted < 1 ? "logistic, 30 % sorted" : "logistic, sorted", true, sorted, 12, 2000,
               100 / steps, steps, 1},
              runs, threads);
}

struct Sharing {
  const char* rule;
  size_t owners, records;
  int components;
  double epsilon;
};

/// Labels and a constant lie with the first owner, features with each in turn.
charter::Charter sharing_charter(const Sharing& job) {
  const bool once = std::string(job.rule) == "statistics";
  std::string text = head("owner = \"o0\"\ncolumn = \"y\"\nlevels = [\"a\", \"b\"]\n") +
                     "[records]\nid = \"i\"\ncount = " + std::to_string(job.records) +
                     "\n[model]\nloss = \"squared\"\nl2 = 0.001\nbox = 8.0\n[protocol]\nname = "
                     "\"sharing\"\nrule = "
                     "\"" +
                     job.rule + "\"\n" +
                     (once ? "" : "rounds = 20\nstep = 3.0\nmomentum = 0.8\nmodel_ball = 4.0\n") +
                     "[privacy]\nmax_row_norm = 1.0\ndelta = 1e-5\n[learner]\nname = \"l\"\n";
  const double norm = 1 / std::sqrt(double(job.owners));
  std::vector<std::string> names(job.owners);
  for (int j = 0; j < job.components; ++j) {
    const size_t owner = size_t(j) % job.owners;
    const std::string name = "x" + std::to_string(j);
    names[owner] += (names[owner].empty() ? "\"" : ", \"") + name + "\"";
    text += "[[column]]\nname = \"" + name + "\"\nowner = \"o" + std::to_string(owner) +
            "\"\nkind = \"number\"\nbounds = [-9, 9]\nmissing = 0\n";
  }
  for (size_t i = 0; i < job.owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) + "\"\ncolumns = [" + names[i] +
            "]\nmax_row_norm = " + shortest(norm * .999999) +
            "\nepsilon = " + shortest(job.epsilon) + "\n";
  return parsed(text);
}

void compare(const Sharing& job, uint64_t runs, int threads) {
  const Table table = draw(job.records, job.components, true, false);
  const charter::Charter charter = sharing_charter(job);
  const auto found = must(forecast::forecast(charter, pilot_of(table), {.threads = threads}));
  sim::SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  for (size_t m = 0; m < job.owners; ++m) {
    std::vector<size_t> kept;
    for (size_t j = 0; j < table.z[0].size(); ++j)
      if (j % job.owners == m) kept.push_back(j);
    auto rows = std::make_shared<data::Rows>(kept.size());
    std::vector<double> z(kept.size());
    for (size_t i = 0; i < job.records; ++i) {
      for (size_t k = 0; k < kept.size(); ++k) z[k] = table.z[i][kept[k]];
      rows->add(z, table.y[i]);
    }
    input.owners.push_back({SharedRows(rows), "bench", Hash{1}});
  }
  const auto done = must(sim::simulate(input, {.seed = 3, .runs = runs, .threads = threads}));
  const double mean = done.quality.relative_fitness.mean;
  std::string alone;
  size_t right = 0, sure = 0;
  for (size_t m = 0; m < job.owners; ++m) {
    alone += (m > 0 ? ", " : "") + std::to_string(100 * found.owners[m].local_only).substr(0, 4) +
             " (" + std::to_string(100 * done.owners[m].local_only).substr(0, 4) + ")";
    const auto answer = found.owners[m].against_alone.answer;
    if (answer == GainAnswer::kNotSure) continue;
    ++sure;
    right += (answer == GainAnswer::kWorthIt) == done.owners[m].gains;
  }
  const forecast::RelativeFitness& psi = found.joint.relative_fitness;
  std::printf(
      "| %s | %zu | %zu | %d | %g | %.3g | %.1f | %.3g | **%+.1f** | %.3g to %.3g %s| %s | %zu "
      "of %zu | %s | %s |\n",
      job.rule, job.owners, job.records, job.components, job.epsilon, mean,
      100 * done.quality.relative_fitness.standard_error / mean, psi.mean,
      100 * (psi.mean / mean - 1), psi.low, psi.high,
      mean >= psi.low && mean <= psi.high ? "" : "(outside) ", alone.c_str(), right, sure,
      found.basis.predictor.c_str(), warned(found).c_str());
  std::fprintf(stderr, "bytes: up %.0f down %.0f of an owner, forecast %.0f both\n",
               double(done.traffic.bytes_up) / double(job.owners),
               double(done.traffic.bytes_down) / double(job.owners),
               double(found.cost.bytes_per_owner));
  std::fflush(stdout);
}

void sharing(uint64_t runs, int threads) {
  std::printf(
      "| rule | owners | records | columns | ε | ψ of %llu runs | s.e. %% | forecast | error "
      "%% | 90 %% interval | alone %%, forecast (realised) | sure and right | predictor | warned "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(runs));
  for (const char* rule : {"gradients", "statistics"})
    for (const double epsilon : {.3, 1.0, 3.0, 10.0}) {
      compare(Sharing{rule, 2, 20000, 10, epsilon}, runs, threads);
      compare(Sharing{rule, 3, 3000, 10, epsilon}, runs, threads);
      compare(Sharing{rule, 2, 1500, 60, epsilon}, runs, threads);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const uint64_t runs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 40;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  if (what != "sharing") federated(runs, threads);
  if (what != "federated") sharing(runs, threads);
}
