#include "parley/report/forecast/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/forecast/owners.h"
#include "parley/report/provenance.h"
#include "parley/report/simulate.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double psi) { return significant(100 * psi, 2) + " %"; }

std::string metric_of(const Forecast& f, const std::vector<learn::Metric>& metrics) {
  for (const learn::Metric& metric : metrics)
    if (metric.name == f.metric.name) return metric_text(f, metric.value);
  return "";
}

std::string side_by_side(const Forecast& f, const sim::SimulateResult& result) {
  const forecast::RelativeFitness& psi = f.relative_fitness;
  const sim::Spread& found = result.quality.relative_fitness;
  std::vector<std::vector<std::string>> rows = {
      {"by the papers' measure", "forecast", "realised"},
      {"above the best, expected", percent(psi.mean), percent(found.mean)},
      {"half of all runs", percent(psi.p25) + " to " + percent(psi.p75),
       percent(found.p25) + " to " + percent(found.p75)},
      {"90 % interval", percent(psi.low) + " to " + percent(psi.high), ""},
      {f.metric.name + " over all rows", metric_text(f, f.metric.joint),
       metric_of(f, result.quality.joint_metrics)},
      {"public rows alone", percent(psi.pilot_only),
       result.owners.front().pilot_only ? percent(*result.owners.front().pilot_only) : ""}};
  for (size_t i = 0; i < f.owners.size(); ++i)
    rows.push_back({f.owners[i].name + " alone", percent(f.owners[i].local_only),
                    percent(result.owners[i].local_only)});
  return table(rows);
}

}  // namespace

void add_realised(Forecast& forecast, const sim::SimulateResult& result) {
  forecast.comparison.realised = {result.quality.relative_fitness.mean,
                                  result.quality.relative_fitness.standard_error, result.job.runs};
}

std::string beside_text(const Forecast& f, const sim::SimulateResult& result) {
  return to_text(f) + "\n" + to_text(result) + "\n" +
         fmt::format(
             "What was forecast from public rows alone, and what came out over {} runs:\n\n",
             result.job.runs) +
         side_by_side(f, result);
}

std::string beside_json(const Forecast& f, const sim::SimulateResult& result) {
  return Json{{"format", "parley.demo/1"},
              {"parley", provenance()},
              {"forecast", Json::parse(to_json(f))},
              {"simulate", Json::parse(to_json(result))}}
             .dump(2) +
         "\n";
}

}  // namespace parley::report
