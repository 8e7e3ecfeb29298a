// The forecast of a job: what collaborating is expected to be worth, for whom, at which epsilon and
// how surely, before anyone spends anything. From the charter and its public rows; nothing private
// is read.
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
#include "parley/forecast/value/tau.h"
#include "parley/progress.h"

namespace parley::forecast {

using parley::MarketTerms;

struct ForecastOptions {
  std::optional<double> target{};  // a relative fitness that is wanted
  std::optional<MarketTerms> market{};
  /// A public bound on how far owners differ, in units of f*: what the best model of an owner's
  /// rows would miss on all rows if it had endless ones (tau^2 of spec, horizontal 3.7).
  double differ = 0;
  /// Instead of it, as owners paid to know it or as the public rows' sites say.
  std::optional<Tau> tau{};
  /// The site of each public row, where rows name one: they say how sure a metric is.
  std::vector<uint32_t> sites{};
  std::optional<double> worth{};  // the least gain that counts, as default_worth(); none: that
  bool log_loss = false;          // of two classes, instead of AUC
  std::optional<double> delta{};  // that owners accept: a draft may then get Gaussian noise
  bool compare = false;           // also by runs on the public rows at several epsilons
  double aggregation_price = 0;   // in relative fitness; federated only
  /// Where the public rows were drawn from noisy moments: others, drawn after as much noise again.
  /// What they forecast differently is what the noise leaves unknown.
  std::vector<std::shared_ptr<const data::Rows>> redrawn{};
  /// Rows drawn from each owner's own moments, in the charter's order: the owners' curvatures.
  std::vector<std::shared_ptr<const data::Rows>> owners{};
  /// A draft that leaves its protocol open: among which to choose, of sync, sums, federated, async;
  /// empty: all. And the name of the file of its features.
  std::vector<std::string> protocols{};
  std::string bundle = "bundle.json";
  OnProgress progress{};
  int threads = 1;

  /// In units of f*, by whoever says it: an excess is half of a squared distance.
  double differ_at(double best) const { return tau ? tau->value / (2 * best) : differ; }
};

using parley::Choice;
using parley::CostForecast;
using parley::EpsilonForecast;
using parley::MetricForecast;
using parley::RelativeFitness;
using parley::Warning;

/// How many local steps between two aggregations; see choose/steps_advice.h.
struct StepsAdvice {
  /// The charter's local steps, divided into rounds otherwise.
  struct Point {
    int64_t local_steps = 0, rounds = 0;
    double psi = 0, noise = 0, drift = 0;  // forecast; of it noise, and steps that lead apart
    double bound = 0;                      // Theorem 4's, relative to f* as well
    uint64_t bytes_per_owner = 0;
  };
  std::vector<Point> points{};
  double price = 0;                       // of an aggregation, in relative fitness; 0: none given
  double gradients = 0, optima = 0;       // zeta^2 and Gamma: how far owners differ
  int64_t floor = 1;                      // surely safe, by the bound
  std::optional<int64_t> priced_bound{};  // where bound and price together are least
  std::optional<double> saturation{};     // 1/(step l2): from here on steps cost less privacy each
  int64_t advised = 1, rounds = 0;
  double saved = 0;  // share of the aggregations that single steps would need
  std::string why{};
};

/// What `parley forecast` prints, as tables, as parley.forecast/1 or as a page. Owners have figures
/// of their own in the user's metric. All else is the papers' measure, relative fitness f / f* - 1,
/// unless said otherwise; f is judged on all owners' rows together.
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
  struct Optimum {
    double fitness = 0;  // f*, expected on the owners' rows
    // E |theta - theta*| and the root of E |theta - theta*|^2: the papers' (10), (12)
    double distance = 0, distance_root = 0;
  };

  struct Coalition {
    std::vector<std::string> members{};
    double relative_fitness = 0;  // against the optimum of endless rows, so that groups compare
    bool best = false;
  };
  /// Relative fitness if all owners had this epsilon and so many times their rows.
  struct Grid {
    std::vector<double> epsilon{}, times{};
    std::vector<double> psi{};  // row by row: psi[r * epsilon.size() + e]
  };
  /// One owner's break-even epsilon if all others had those of the grid, one by one.
  struct BreakEven {
    std::string owner{};
    std::vector<std::optional<double>> epsilon{};
  };
  /// Wu et al., figure 6: one large owner and two others, in this job, against what endless rows
  /// would give.
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
  /// Other groups of owners, other budgets and rows, budgets for sale.
  struct WhatIf {
    std::vector<Coalition> coalitions{};
    Grid grid{};
    std::vector<BreakEven> break_even{};
    std::vector<Scenario> scenarios{};
    std::optional<Market> market{};
  };

  /// The forecast beside the papers' bounds with fitted constants, runs on the public rows and a
  /// simulation.
  struct Comparison {
    struct Point {
      double epsilon = 0;  // of every owner
      double forecast = 0, smooth = 0, general = 0, both = 0;
      std::optional<double> runs{};
    };
    /// What came out, where the job was simulated.
    struct Realised {
      double mean = 0, standard_error = 0;
      size_t runs = 0;
    };
    double smooth = 0, general = 0, both = 0;  // the bounds at the charter's own budgets
    std::vector<Point> points{};
    std::optional<Realised> realised{};
  };

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

  struct Advice {
    std::vector<Choice> chosen{};        // in the charter
    std::vector<Ranked> ranking{};       // where features and protocol were open
    std::optional<StepsAdvice> steps{};  // federated
    std::vector<Warning> warnings{};
  };

  /// How much owners differ: tau, twice the loss that the best common model misses on an owner's
  /// own population, with 90 % of what it may be.
  struct Differ {
    std::string from = "nobody";  // declared | sites | paid; nobody: as if all were alike
    MetricRange tau{};
  };
  /// Of a charter with rule "distance", in place of all that follows: what its number would tell.
  struct DistanceForecast {
    /// If tau were this, the mean length would be `norm`, and tau be said to lie in between.
    struct Point {
      double tau = 0, norm = 0, low = 0, high = 0;
    };
    double noise = 0;  // deviation of the noise on the mean length
    double alike = 0;  // the mean length if all owners were alike
    std::vector<Point> points{};
  };

  Job job{};
  Basis basis{};
  std::optional<DistanceForecast> distance{};
  Differ differ{};
  RelativeFitness relative_fitness{};  // of the joint model
  Optimum optimum{};                   // what it is relative to, and how far the model is from it
  MetricForecast metric{};
  std::vector<Owner> owners{};
  EpsilonForecast epsilons{};
  WhatIf what_if{};
  Comparison comparison{};
  CostForecast cost{};
  Advice advice{};
  std::string report{};  // the HTML file, if one was written
};

/// `charter` must be complete, with its bundle loaded; `pilot` its public rows.
Result<Forecast> forecast(const charter::Charter& charter,
                          const std::shared_ptr<const data::Rows>& pilot,
                          const ForecastOptions& options);

}  // namespace parley::forecast
