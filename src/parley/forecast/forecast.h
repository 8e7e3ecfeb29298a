// The forecast of a job: what collaborating is expected to be worth, for whom, at which epsilon and
// how surely, before anyone spends anything. From the charter and its public rows; nothing private
// is read. How it is made, in the order of reading:
//
//   pilot/        what the public rows say: optimum, Hessian, metric
//   propagate/    moments of a model that noisy steps lead to
//   predict/      a charter's job in numbers, and the expected excess loss of its model
//   uncertainty   how far that may be off
//   joint.cc      what the joint model reaches and what the job costs
//   owners/       what each owner gains on its own population: closed forms, tau, verdicts
//   decide/       groups of owners, other budgets and rows, a market of budgets
//   choose/       what a draft leaves open, and why
//   warnings.cc   what a reader should know first
//
// Text, JSON and pages are made by report/forecast/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/forecast.h"
#include "parley/forecast/owners/tau.h"
#include "parley/progress.h"

namespace parley::forecast {

using parley::MarketTerms;

struct ForecastOptions {
  std::optional<double> target{};  // a relative fitness that is wanted
  std::optional<MarketTerms> market{};
  /// A public bound on how far owners differ, tau^2 in units of f*: the excess on all rows of the
  /// best model of one owner's population.
  double differ = 0;
  /// Instead of it: tau as owners paid to know it, or from the sites that the public rows name.
  std::optional<Tau> tau{};
  /// The site of each public row, where rows name one: errors of the metric are summed by site.
  std::vector<uint32_t> sites{};
  std::optional<double> worth{};  // the least gain that counts; none: default_worth()
  bool log_loss = false;          // the metric of two classes, instead of AUC
  std::optional<double> delta{};  // that owners accept: a draft may then get Gaussian noise
  bool compare = false;           // also by runs on the public rows at several epsilons
  double aggregation_price = 0;   // in relative fitness; federated only
  /// Where the public rows were drawn from noisy moments: rows drawn with noise added once more.
  /// How far their forecasts differ shows how uncertain the noise leaves this one.
  std::vector<std::shared_ptr<const data::Rows>> redrawn{};
  /// Rows drawn from each owner's own moments, in the charter's order; they give its Hessian.
  std::vector<std::shared_ptr<const data::Rows>> owners{};
  /// Where features are leaves of trees that were grown on the public rows: parts of these rows,
  /// each with leaves of trees that have not seen it. The metric is judged on them.
  std::vector<std::shared_ptr<const data::Rows>> unseen{};
  /// For a draft that leaves its protocol open: the candidates among sync, sums, federated and
  /// async (empty: all), and the name of the file of its features.
  std::vector<std::string> protocols{};
  std::string bundle = "bundle.json";
  /// Called between parts of the work, on the calling thread; it may throw to stop the work.
  OnProgress progress{};
  int threads = 1;

  /// tau^2 in units of f*, from `tau` or `differ`: an excess is half of a squared distance.
  double differ_at(double best) const { return tau ? tau->value() / (2 * best) : differ; }
};

using parley::Choice;
using parley::CostForecast;
using parley::EpsilonForecast;
using parley::MetricForecast;
using parley::RelativeFitness;
using parley::Warning;

/// What does the joint model reach? In the papers' measure, relative fitness f / f* - 1, f being
/// the loss on all owners' rows together; and in the user's metric.
struct JointForecast {
  struct Optimum {
    double fitness = 0;  // f*, expected on the owners' rows
    // E |theta - theta*| and the root of E |theta - theta*|^2: the papers' (10), (12)
    double distance = 0, distance_root = 0;
  };
  /// The forecast beside the papers' bounds with fitted constants, runs on the public rows and a
  /// simulation.
  struct Comparison {
    struct Point {
      double epsilon = 0;  // of every owner
      double forecast = 0, smooth = 0, general = 0, both = 0;
      std::optional<double> runs{};
    };
    /// The outcome, where the job was simulated.
    struct Realised {
      double mean = 0, standard_error = 0;
      size_t runs = 0;
    };
    double smooth = 0, general = 0, both = 0;  // the bounds at the charter's own budgets
    std::vector<Point> points{};
    std::optional<Realised> realised{};
  };

  RelativeFitness relative_fitness{};
  Optimum optimum{};
  MetricForecast metric{};
  Comparison comparison{};
};

/// What if other groups of owners, other budgets or rows, or budgets for sale? Relative fitness.
struct WhatIf {
  struct Coalition {
    std::vector<std::string> members{};
    double relative_fitness = 0;  // against the optimum of infinitely many rows: groups compare
    bool best = false;
  };
  /// If all owners had this epsilon and so many times their rows.
  struct Grid {
    std::vector<double> epsilon{}, times{};
    std::vector<double> psi{};  // row by row: psi[r * epsilon.size() + e]
  };
  /// One owner's break-even epsilon if all others had those of the grid, one by one.
  struct BreakEven {
    std::string owner{};
    std::vector<std::optional<double>> epsilon{};
  };
  /// Wu et al., figure 6: one large owner and two others, in this job, against the optimum of
  /// infinitely many rows.
  struct Scenario {
    std::string name{};
    double epsilon = 0, others_rows = 0, others_epsilon = 0;  // the first has 100,000 rows
    double by_rows = 0, first_alone = 0, optimal = 0;
  };
  struct Sale {
    double price = 0, epsilon = 0, payment = 0;
    double negotiated = 0;  // epsilon if the learner posts what it pays and owners raise theirs
  };
  struct Market {
    double value = 0, psi = 0, surplus = 0;
    std::vector<Sale> sales{};  // by owner; epsilon 0: not bought
  };

  std::vector<Coalition> coalitions{};
  Grid grid{};
  std::vector<BreakEven> break_even{};
  std::vector<Scenario> scenarios{};
  std::optional<Market> market{};
};

/// How many local steps between two aggregations? By advise_steps() of choose/choose.h.
struct StepsAdvice {
  /// The charter's local steps, divided into rounds otherwise.
  struct Point {
    int64_t local_steps = 0, rounds = 0;
    double psi = 0, noise = 0, drift = 0;  // forecast; its parts by noise and by client drift
    double bound = 0;                      // Theorem 4's, relative to f* as well
    uint64_t bytes_per_owner = 0;
  };
  std::vector<Point> points{};
  double price = 0;                       // of an aggregation, in relative fitness; 0: none given
  double gradients = 0, optima = 0;       // zeta^2 and Gamma: how far owners differ
  int64_t floor = 1;                      // safe by the bound
  std::optional<int64_t> priced_bound{};  // where bound and price together are least
  std::optional<double> saturation{};     // 1/(step l2): from here on steps cost less privacy each
  int64_t advised = 1, rounds = 0;
  double saved = 0;  // share of the aggregations that single steps would need
  std::string why{};
};

/// What was chosen for a draft, and what should a reader know?
struct Advice {
  /// A design that was compared: the chosen one first, then from the best on.
  struct Ranked {
    std::string features{}, protocol{}, how{};  // how: rule, rounds, clip
    size_t columns = 0;
    double l2 = 0;
    double loss = 0, metric = 0;  // expected of the joint model on new rows
    double error = 0;             // standard error of the loss's difference to the chosen one's
    bool chosen = false;
    bool quick = false;        // by the criterion alone, not by a forecast
    bool needs_delta = false;  // that no owner has accepted
  };

  std::vector<Choice> chosen{};        // in the charter
  std::vector<Ranked> ranking{};       // where features and protocol were open
  std::optional<StepsAdvice> steps{};  // federated
  std::vector<Warning> warnings{};
};

/// What `parley forecast` prints, as tables, as parley.forecast/1 or as a page: one member for each
/// question.
struct Forecast {
  using Owner = parley::OwnerForecast;

  struct Job {
    std::string charter{}, charter_hash{};  // its name, and the hash in hex
    std::string target_column{};
    bool columns = false;  // Owners hold columns of the same records, not rows.
    bool complete = true;  // else a draft, of which values were chosen
  };
  /// How it was predicted, and from what.
  struct Basis {
    std::string predictor{}, why{};
    std::vector<std::string> others{};  // predictors that can be compared
    uint64_t pilot_rows = 0;
    bool paid = false;  // the rows were drawn from moments that owners released
  };
  /// How much owners differ: tau, twice the excess of the best common model on an owner's own
  /// population, with its 90 % interval.
  struct Differ {
    std::string from = "nobody";  // declared | sites | paid; nobody: as if all were alike
    MetricRange tau{};
  };

  Job job{};
  Basis basis{};
  std::optional<DistanceForecast> distance{};  // of rule "distance", in place of all below but cost
  JointForecast joint{};
  Differ differ{};
  std::vector<Owner> owners{};  // for whom is it worth it?
  EpsilonForecast epsilons{};   // at which epsilon?
  WhatIf what_if{};
  CostForecast cost{};
  Advice advice{};
  std::string report{};  // the HTML file, if one was written
};

/// `charter` must be complete, with its bundle loaded; `pilot` its public rows.
Result<Forecast> forecast(const charter::Charter& charter,
                          const std::shared_ptr<const data::Rows>& pilot,
                          const ForecastOptions& options);

}  // namespace parley::forecast
