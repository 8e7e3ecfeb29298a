// What a collaboration is expected to be worth, for whom, at which epsilon and how surely, before
// anyone spends anything.
//
//   const auto charter = parley::Charter::read("loans.charter.toml");
//   if (!charter) return 2;
//   const auto forecast = parley::make_forecast(*charter, {.folder = "data"});
//   if (!forecast) return 1;
//   for (const parley::OwnerForecast& owner : forecast->owners())
//     std::cout << owner.name << ": " << name_of(owner.against_alone.answer) << "\n";
//
// It is made from the charter and its public rows (the pilot) alone: nothing private is read and
// nothing is paid. Functions may be called from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/charter.h"
#include "parley/data.h"
#include "parley/progress.h"
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
  /// Instead of it: the model.json of a job of rule "distance" on the same public rows, in which
  /// owners paid to know it. Without either, sites that the public rows name say it, if they do.
  std::filesystem::path distance{};
  /// The least gain that an owner calls material: of RMSE a share, of AUC a difference. None: 0.005
  /// and 0.002.
  std::optional<double> worth{};
  bool log_loss = false;         // judges two classes by log loss instead of AUC
  double aggregation_price = 0;  // of one aggregation, in relative fitness; federated only
  /// Files of moments that owners released and paid for, from which the pilot was drawn: what their
  /// noise leaves unknown then widens the intervals.
  std::vector<std::filesystem::path> moments{};
  /// Of a draft that leaves its protocol open, which then gets features, l2 and a protocol: among
  /// "sync", "sums" (sync in secure sums), "federated" and "async"; empty: all.
  std::vector<std::string> protocols{};
  std::string bundle = "bundle.json";  // the name of the file of such features, in charter_text()
  /// Of what is compared for such a draft, and of the parts of the forecast itself, on the calling
  /// thread.
  OnProgress progress{};
  std::filesystem::path html{};  // writes the report as a page; empty: none
  int threads = 0;               // 0: as many as the machine has
};

/// What is expected of the joint model, as relative fitness: loss / best possible loss - 1, over
/// all owners' rows together, without noise and with all data at best.
struct RelativeFitness {
  double mean = 0, p25 = 0, p50 = 0, p75 = 0;  // over runs
  double low = 0, high = 0;                    // 90 % of runs, the public rows' own error included

  // The mean's parts.
  double optimisation = 0;  // what the steps leave without noise
  double drift = 0;         // part of it: local steps of owners that differ lead apart
  double privacy = 0;       // what the noise adds
  /// What weights other than by rows cost, less what the others' data are worth to an owner in the
  /// mean: below 0 it is a gain.
  double statistical_gain = 0;

  double pilot_only = 0;  // of a model of the public rows, to compare
};

/// The metric that users of the model care about: "rmse", in the target's unit, or "auc"; over all
/// owners' people together, new ones as well.
struct MetricForecast {
  std::string name{};
  double joint = 0;          // of the joint model, expected
  double low = 0, high = 0;  // its 90 % interval
  double best = 0;           // of the best possible model
  double pilot_only = 0;     // of a model of the public rows
};

/// A metric or a gain in its units: expected, and 90 % of what may come.
struct MetricRange {
  double mean = 0, low = 0, high = 0;
};

/// What a gain is measured against. Own + public costs nothing, so only a gain against it is what
/// the job itself brings.
enum class GainAgainst { kAlone, kOwnPublic };

enum class GainAnswer { kWorthIt, kNoDifference, kNotWorthIt, kNotSure };
std::string_view name_of(GainAnswer answer);  // worth it | no difference | not worth it | not sure

/// Is a gain material for one owner? Worth it: above the threshold with 90 % probability; no
/// difference: within it either way; not worth it: above it with at most 10 %; else not sure.
struct GainVerdict {
  GainAgainst against = GainAgainst::kAlone;
  GainAnswer answer = GainAnswer::kNotSure;
  MetricRange gain{};    // in the metric's units; above 0 is better
  double threshold = 0;  // likewise
  bool alike = true;     // Nobody said how much owners differ: it holds if all were alike.
  bool rare = false;     // too few public rows of the smaller class for any answer but "not sure"
};

/// What an owner can expect.
struct OwnerForecast {
  std::string name{};
  uint64_t rows = 0;
  double epsilon = 0, delta = 0;
  double weight = 0;  // v_i

  // The user's metric on the owner's own population.
  MetricRange alone{};                      // its own rows (or columns), without noise
  std::optional<MetricRange> own_public{};  // with the public rows as well; owners of rows only
  MetricRange joint{};                      // the joint model as it is
  std::optional<MetricRange> personal{};    // mixed with the owner's own; owners of rows only

  // Gains of the personal model; of the joint one where owners hold columns.
  GainVerdict against_alone{};
  std::optional<GainVerdict> against_own_public{};

  // The papers' measure: relative fitness, over all owners' rows together.
  double local_only = 0;                       // a model of its own rows, without noise
  std::optional<double> break_even_epsilon{};  // others as they are; none: no epsilon is enough
  double shapley = 0, shapley_error = 0;
};

/// At which epsilon, by the papers' measure, if all owners give the same; none: no epsilon is
/// enough.
struct EpsilonForecast {
  std::optional<double> smallest_common{};  // from here on joint is better than every owner alone
  std::optional<double> enough{};           // nine tenths of what no noise at all would bring
  std::optional<double> target{};           // the relative fitness that was wanted, if any
  std::optional<double> for_target{};
  std::optional<double> rows_for_target{};  // of all owners together, budgets as they are
};

/// Traffic and time, from public numbers.
struct CostForecast {
  uint64_t rounds = 0;
  uint64_t bytes_per_owner = 0;  // sent and received
  double seconds_per_round = 0;  // without the network's own delay
};

/// Something that the reader should know, and what to do about it.
struct Warning {
  std::string code, text, what_to_do;
};

/// A value that the charter left open, or that could be better, and why it was taken.
struct Choice {
  std::string key, value, why;
};

/// A cheap handle to a forecast, which never changes.
class Forecast {
 public:
  const RelativeFitness& relative_fitness() const;
  const MetricForecast& metric() const;
  const std::vector<OwnerForecast>& owners() const;
  const EpsilonForecast& epsilons() const;
  const CostForecast& cost() const;
  /// What a draft left open, or `tune` changed, and why.
  const std::vector<Choice>& chosen() const;
  const std::vector<Warning>& warnings() const;
  /// The charter's text with what was chosen, which Charter::parse takes.
  const std::string& charter_text() const;
  /// The file of features that this text names, where features were chosen; else empty.
  const std::string& bundle_text() const;

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
