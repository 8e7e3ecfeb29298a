// What a collaboration is expected to be worth, for whom, at which epsilon and how surely, before
// anyone spends anything.
//
//   const auto charter = parley::Charter::read("loans.charter.toml");
//   if (!charter) return 2;
//   const auto forecast = parley::make_forecast(*charter, {.folder = "data"});
//   if (!forecast) return 1;
//   for (const parley::OwnerForecast& owner : forecast->owners())
//     std::cout << owner.name << (owner.gains ? " gains" : " does not gain") << "\n";
//
// It is made from the charter and its public rows (the pilot) alone: nothing private is read and
// nothing is paid. Functions may be called from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/charter.h"
#include "parley/data.h"
#include "parley/result.h"

namespace parley {

/// What the owners ask and the learner would pay.
struct MarketTerms {
  double value = 0;  // of one unit of relative fitness
  double cap = 0;    // the most that anyone may ask: public before the bids
  std::vector<std::pair<std::string, double>> prices{};  // of one unit of an owner's epsilon
};

struct ForecastOptions {
  std::filesystem::path folder{};  // where pilot and bundle lie; empty: beside the charter
  std::optional<GeneratedData> generated{};  // public rows of a stand-in, in place of the pilot
  CsvSigns signs{};                          // of the pilot's file
  bool tune = false;  // also chooses what has a default and was not written, such as the mechanism
  std::optional<double> target{};  // a relative fitness that is wanted
  std::optional<double> delta{};   // that owners accept: a draft may then get Gaussian noise
  std::optional<MarketTerms> market{};
  /// A public bound on how far owners differ, in units of the best possible loss: what the best
  /// model of an owner's rows would miss on all rows if it had endless ones.
  double differ = 0;
  double aggregation_price = 0;  // of one aggregation, in relative fitness; federated only
  /// Files of moments that owners released and paid for, from which the pilot was drawn: what their
  /// noise leaves unknown then widens the intervals.
  std::vector<std::filesystem::path> moments{};
  std::filesystem::path html{};  // writes the report as a page; empty: none
  int threads = 0;               // 0: as many as the machine has
};

/// What an owner can expect. Relative fitness is loss / best possible loss - 1, over all owners'
/// rows together, without noise and with all data at best.
struct OwnerForecast {
  std::string name{};
  uint64_t rows = 0;
  double epsilon = 0, delta = 0;
  double weight = 0;        // v_i
  double local_only = 0;    // a model of its own rows, without noise
  double local_metric = 0;  // the same in the user's metric
  bool gains = false;       // expected
  bool sure = false;        // and the interval of their difference does not contain zero
  std::optional<double> break_even_epsilon{};  // others as they are; none: no epsilon is enough
  double shapley = 0, shapley_error = 0;
};
/// Something that the reader should know, and what to do about it.
struct Warning {
  std::string code, text, what_to_do;
};

/// A value that the charter left open, or that could be better, and why it was taken.
struct Choice {
  std::string key, value, why;
};

class Forecast {
 public:
  /// Of the joint model's relative fitness.
  struct Range {
    double mean = 0, p25 = 0, p50 = 0, p75 = 0;
    double low = 0, high = 0;  // 90 % of runs, the public rows' own error included
  };

  Range relative_fitness() const;
  /// The metric that users of the model care about, "rmse" in the target's unit or "auc", of the
  /// joint model: expected, and the ends of its 90 % interval.
  const std::string& metric() const;
  double metric_joint() const;
  std::pair<double, double> metric_interval() const;

  const std::vector<OwnerForecast>& owners() const;
  /// The epsilon of all owners at which every one of them gains; none: no epsilon is enough.
  std::optional<double> smallest_common_epsilon() const;
  /// What a draft left open, or `tune` changed, and why.
  const std::vector<Choice>& chosen() const;
  const std::vector<Warning>& warnings() const;
  /// The charter's text with what was chosen, which Charter::parse takes.
  const std::string& charter_text() const;

  std::string to_text() const;
  std::string to_json() const;  // parley.forecast/1
  std::string to_html() const;  // one page that stands alone and can be printed

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Forecast(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

/// Forecasts a charter. A draft is completed first. kInvalid without public rows, if their hash is
/// not the charter's, or where a protocol has no forecast.
Result<Forecast> make_forecast(const Charter& charter, const ForecastOptions& options = {});

}  // namespace parley
