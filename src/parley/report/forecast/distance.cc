#include "parley/report/forecast/distance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {

std::string distance_text(const forecast::Forecast& f) {
  std::string text =
      fmt::format("{}  charter {}  forecast\n\n", f.job.charter, f.job.charter_hash.substr(0, 12));
  for (const forecast::Choice& choice : f.advice.chosen)
    text += fmt::format("Chosen: {} = {}: {}\n", choice.key, choice.value, choice.why);
  text += fmt::format(
      "This job trains nothing. It buys how far owners' rows pull from the public rows' model, on "
      "average:\nin the intercept, and in all else, which is {} if all owners were alike. Noise of "
      "deviation {} on either.\n\n",
      significant(f.distance->alike), significant(f.distance->noise, 2));
  std::vector<std::vector<std::string>> rows = {
      {"if tau of all else is", "the number is", "and tau will be said to lie between"}};
  for (const auto& point : f.distance->points)
    rows.push_back({significant(point.tau), significant(point.norm),
                    significant(point.low, 2) + " and " + significant(point.high, 2)});
  return text + table(rows) +
         "\nTau is twice the loss that the best common model misses on an owner's own people; 90 % "
         "intervals.\nFrom public rows only; no private row was read. Afterwards `parley forecast "
         "CHARTER --distance FILE` uses it.\n";
}

std::string distance_json(const forecast::Forecast& f) {
  nlohmann::ordered_json json = {
      {"format", "parley.forecast/1"},
      {"parley", provenance()},
      {"charter",
       {{"name", f.job.charter}, {"sha256", f.job.charter_hash}, {"complete", f.job.complete}}},
      {"inputs", {{"pilot_rows", f.basis.pilot_rows}, {"private_rows_read", 0}}},
      {"distance",
       {{"noise", f.distance->noise}, {"norm_if_alike", f.distance->alike}, {"level", 0.9}}}};
  for (const auto& point : f.distance->points)
    json["distance"]["points"].push_back(
        {{"tau", point.tau}, {"norm", point.norm}, {"low", point.low}, {"high", point.high}});
  json["chosen"] = nlohmann::ordered_json::array();
  for (const forecast::Choice& c : f.advice.chosen)
    json["chosen"].push_back({{"key", c.key}, {"value", c.value}, {"why", c.why}});
  return json.dump(2) + "\n";
}

}  // namespace parley::report
