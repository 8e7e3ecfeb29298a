#include "parley/report/forecast/ranking.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Ranked = forecast::Advice::Ranked;

/// Why it was not taken: in the metric, and whether the public rows can tell it from the chosen
/// one.
std::string cost(const Forecast& f, const Ranked& one, const Ranked& chosen) {
  if (one.chosen) return "chosen";
  const double worse =
      f.joint.metric.name == "auc" ? chosen.metric - one.metric : one.metric - chosen.metric;
  std::string text =
      worse >= 0 ? "worse by " + metric_text(f, worse) : "better by " + metric_text(f, -worse);
  if (one.needs_delta) return text + "; needs a delta (--delta)";
  if (std::abs(one.loss - chosen.loss) <= one.error)
    text += "; within the public rows' error";
  else if (one.loss < chosen.loss)
    text += "; less than counts";
  return text;
}

}  // namespace

Cells ranking_cells(const Forecast& f) {
  Cells cells = {
      {"features", "number", "l2", "protocol", "how", metric_name(f), "against the choice"}};
  for (const Ranked& one : f.advice.ranking)
    cells.push_back({one.features, std::to_string(one.columns), shortest(one.l2), one.protocol,
                     one.how, metric_text(f, one.metric) + (one.quick ? "*" : ""),
                     cost(f, one, f.advice.ranking.front())});
  return cells;
}

std::string ranking_text(const Forecast& f) {
  if (f.advice.ranking.empty()) return "";
  std::string text =
      "\nCompared, by what is expected of the joint model on new rows:\n" + table(ranking_cells(f));
  for (const Ranked& one : f.advice.ranking)
    if (one.quick) return text + "* By the quick criterion alone, not by a forecast.\n";
  return text;
}

std::string ranking_json(const Forecast& f) {
  auto json = nlohmann::ordered_json::array();
  for (const Ranked& one : f.advice.ranking)
    json.push_back({{"features", one.features},
                    {"columns", one.columns},
                    {"l2", one.l2},
                    {"protocol", one.protocol},
                    {"how", one.how},
                    {"loss", one.loss},
                    {"metric", one.metric},
                    {"standard_error", one.error},
                    {"chosen", one.chosen},
                    {"forecast", !one.quick},
                    {"needs_delta", one.needs_delta}});
  return json.dump();
}

}  // namespace parley::report
