#include "parley/report/data/prepare.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using data::Bundle;
using Json = nlohmann::ordered_json;

std::string leaves(const data::Trees& trees) {
  const size_t count = trees.trees.size();
  return fmt::format("{} leaves of {} tree{} of depth {}", trees.level_names().size(), count,
                     count == 1 ? "" : "s", trees.depth());
}

/// "12 columns, 19 encoded, 17 kept, 10 components (71 % of the variance), whitened".
std::string steps(const Bundle& bundle) {
  std::string text = fmt::format("{} columns, {} encoded, {} kept", bundle.input.size(),
                                 bundle.encoded.size(), bundle.select.size());
  if (bundle.select_by == Bundle::SelectBy::kCorrelation) text += " by correlation with the target";
  if (bundle.select_by == Bundle::SelectBy::kVariance) text += " by variance";
  if (const auto& rotate = bundle.rotate) {
    double explained = 0;
    for (double part : rotate->explained) explained += part;
    text += fmt::format(", {} components ({:.0f} % of the variance){}", rotate->explained.size(),
                        100 * explained, rotate->whiten ? ", whitened" : "");
  }
  if (bundle.fourier) text += fmt::format(", {} Fourier features", bundle.fourier->features);
  if (bundle.trees) text += ", " + leaves(bundle.trees->trees);
  return text;
}

/// In quotes and escaped, which TOML reads as JSON does.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const Prepared& prepared) {
  const Bundle& bundle = prepared.bundle;
  return fmt::format(
      "\n[preprocess]\n"
      "# From {} pilot rows: {}.\n"
      "# 99.9 % of them have features of L1 norm up to {} and L2 norm up to {}, without bias.\n"
      "bundle = {}\n"
      "sha256 = \"{}\"\n",
      grouped(bundle.made_from.rows), steps(bundle), significant(bundle.max_l1),
      significant(bundle.max_l2), quoted(prepared.bundle_file), to_hex(hash_of(bundle)));
}

std::string to_text(const DrawnPilot& drawn) {
  std::string paid;
  for (const data::PaidMoments& each : drawn.moments)
    paid += (paid.empty() ? "" : ", ") + each.owner + " " + significant(each.epsilon);
  return fmt::format(
      "\n[pilot]\n"
      "# Drawn from moments that owners released; epsilon paid: {}.\n"
      "file = {}\nsha256 = \"{}\"\nrows = {}\n",
      paid, quoted(drawn.file), to_hex(drawn.sha256), drawn.rows);
}

std::string to_json(const DrawnPilot& drawn) {
  Json paid = Json::array();
  for (const data::PaidMoments& each : drawn.moments)
    paid.push_back({{"owner", each.owner}, {"epsilon", each.epsilon}, {"delta", each.delta}});
  const Json json = {
      {"format", "parley.drawn-pilot/1"},
      {"parley", provenance()},
      {"pilot", {{"file", drawn.file}, {"sha256", to_hex(drawn.sha256)}, {"rows", drawn.rows}}},
      {"paid", paid}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const data::PaidMoments& moments, const std::string& file) {
  return fmt::format(
      "{}'s moments of {} rows are in {}: epsilon {} paid, noise of deviation {} on columns and\n"
      "label in [-1, 1]. Send the file to whoever draws the pilot.\n",
      moments.owner, grouped(moments.rows), file, significant(moments.epsilon),
      significant(moments.deviation));
}

std::string to_json(const Prepared& prepared) {
  const Bundle& bundle = prepared.bundle;
  const Json json = {
      {"format", "parley.prepare/1"},
      {"parley", provenance()},
      {"preprocess", {{"bundle", prepared.bundle_file}, {"sha256", to_hex(hash_of(bundle))}}},
      {"pilot_rows", bundle.made_from.rows},
      {"input", bundle.input},
      {"features", bundle.features()},
      {"max_l1", bundle.max_l1},
      {"max_l2", bundle.max_l2}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
