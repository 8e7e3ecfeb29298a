// The bundle's file: canonical JSON out, and in with every list as long as it must be.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "parley/base/json_object.h"
#include "parley/data/rows.h"
#include "parley/data/transforms/bundle.h"

namespace parley::data {
namespace {

using Json = nlohmann::json;  // Keys sorted.

constexpr std::string_view kFormat = "parley.bundle/1";
constexpr std::array<std::string_view, 3> kSelectBy = {"all", "variance", "correlation"};
constexpr std::string_view kNote = "99.9 % of pilot rows; a default for clipping, not a bound";

Json json_of(const Bundle::Rotate& rotate) {
  return {{"components", rotate.explained.size()},
          {"whiten", rotate.whiten},
          {"matrix_row_major", rotate.matrix},
          {"explained", rotate.explained}};
}

Json json_of(const Bundle::Fourier& fourier) {
  return {{"features", fourier.features}, {"scale", fourier.scale}, {"seed", fourier.seed}};
}

Json json_of(const Bundle::PublicTrees& leaves) {
  Json json = json_of(leaves.trees);
  json["leaf"] = leaves.leaf;
  return json;
}

Result<Hash> get_hash(const JsonObject& object, std::string_view key) {
  std::string hex;
  TRY(object.get(key, hex));
  const auto hash = hash_from_hex(hex);
  if (!hash) return object.error(key, "must be 64 hexadecimal digits");
  return *hash;
}

Result<Bundle::MadeFrom> made_from_of(const JsonObject& object) {
  Bundle::MadeFrom made_from;
  made_from.pilot = TRY(get_hash(object, "pilot_sha256"));
  made_from.columns = TRY(get_hash(object, "columns_sha256"));
  TRY(object.get("rows", made_from.rows));
  return made_from;
}

Result<Bundle::Rotate> rotate_of(const JsonObject& object, size_t inputs) {
  Bundle::Rotate rotate;
  uint64_t components = 0;
  TRY(object.get("components", components));
  TRY(object.get("whiten", rotate.whiten));
  TRY(object.get("matrix_row_major", rotate.matrix));
  TRY(object.get("explained", rotate.explained));
  if (components < 1 || components > inputs)
    return object.error("components", "must be from 1 to the number of selected columns");
  if (rotate.explained.size() != components)
    return object.error("explained", "must have one number per component");
  if (rotate.matrix.size() != components * inputs)
    return object.error("matrix_row_major", "must have components x selected columns numbers");
  return rotate;
}

Result<Bundle::Fourier> fourier_of(const JsonObject& object) {
  Bundle::Fourier fourier;
  TRY(object.get("features", fourier.features));
  TRY(object.get("scale", fourier.scale));
  TRY(object.get("seed", fourier.seed));
  if (fourier.features < 1 || fourier.features >= kColumnsMax)
    return object.error("features", "must be from 1 to 4095");
  if (!(fourier.scale >= 1e-6 && fourier.scale <= 1e6))
    return object.error("scale", "must be from 1e-6 to 1e6");
  return fourier;
}

/// Of a bundle that is complete but for the trees.
Result<Bundle::PublicTrees> public_trees_of(const JsonObject& object, const Bundle& bundle) {
  Bundle::PublicTrees leaves;
  leaves.trees = TRY(trees_of(object));
  TRY(object.get("leaf", leaves.leaf));
  if (leaves.trees.columns != bundle.encoded.size())
    return object.error("columns", "must be as many as encoded columns");
  if (leaves.trees.trees.empty()) return object.error("trees", "must be at least one");
  if (!(leaves.leaf > 0 && leaves.leaf <= kLargest))
    return object.error("leaf", "must be above 0 and at most 1e140");
  if (bundle.features().size() + leaves.trees.level_names().size() >= kColumnsMax)
    return object.error("trees", "have so many leaves that there are more than 4095 features");
  return leaves;
}

Result<void> get_standard(const JsonObject& object, Bundle& bundle) {
  TRY(object.get("input", bundle.input));
  TRY(object.get("encoded", bundle.encoded));
  TRY(object.get("mean", bundle.mean));
  TRY(object.get("scale", bundle.scale));
  const size_t columns = bundle.encoded.size();
  if (columns < 1 || columns > kColumnsMax)
    return object.error("encoded", "must be from 1 to 4096 names");
  if (bundle.mean.size() != columns) return object.error("mean", "must be one per encoded column");
  if (bundle.scale.size() != columns)
    return object.error("scale", "must be one per encoded column");
  if (std::any_of(bundle.scale.begin(), bundle.scale.end(), [](double s) { return !(s > 0); }))
    return object.error("scale", "must be above 0");
  if (!object.has("cut")) return {};
  TRY(object.get("cut", bundle.cut));
  if (!(bundle.cut > 0)) return object.error("cut", "must be above 0");
  return {};
}

Result<void> get_select(const JsonObject& object, Bundle& bundle) {
  TRY(object.get("select", bundle.select));
  TRY(object.get("select_by", bundle.select_by, kSelectBy));
  const auto& select = bundle.select;
  const bool ascending =
      std::adjacent_find(select.begin(), select.end(), std::greater_equal<>{}) == select.end();
  if (select.empty() || !ascending || select.back() >= bundle.encoded.size())
    return object.error("select", "must be numbers of encoded columns, ascending");
  return {};
}

}  // namespace

std::string to_json(const Bundle& bundle) {
  Json json = {
      {"format", kFormat},
      {"made_from",
       {{"pilot_sha256", to_hex(bundle.made_from.pilot)},
        {"columns_sha256", to_hex(bundle.made_from.columns)},
        {"rows", bundle.made_from.rows}}},
      {"input", bundle.input},
      {"encoded", bundle.encoded},
      {"mean", bundle.mean},
      {"scale", bundle.scale},
      {"select", bundle.select},
      {"select_by", kSelectBy[static_cast<size_t>(bundle.select_by)]},
      {"rotate", bundle.rotate ? json_of(*bundle.rotate) : Json()},
      {"fourier", bundle.fourier ? json_of(*bundle.fourier) : Json()},
      {"constants", {{"max_l1", bundle.max_l1}, {"max_l2", bundle.max_l2}, {"note", kNote}}}};
  // Left out of bundles without them, whose text and hash stay as they were before there were any.
  if (bundle.cut > 0) json["cut"] = bundle.cut;
  if (bundle.trees) json["trees"] = json_of(*bundle.trees);
  return canonical_json(json) + "\n";
}

Result<Bundle> bundle_of(const JsonObject& object) {
  std::string format;
  TRY(object.get("format", format));
  if (format != kFormat)
    return object.error("format", "is not " + std::string(kFormat) + ", which this Parley reads");
  Bundle bundle;
  bundle.made_from = TRY(made_from_of(TRY(object.object("made_from"))));
  TRY(get_standard(object, bundle));
  TRY(get_select(object, bundle));
  if (!object.is_null("rotate"))
    bundle.rotate = TRY(rotate_of(TRY(object.object("rotate")), bundle.select.size()));
  if (!object.is_null("fourier")) bundle.fourier = TRY(fourier_of(TRY(object.object("fourier"))));
  if (object.has("trees")) bundle.trees = TRY(public_trees_of(TRY(object.object("trees")), bundle));
  const JsonObject constants = TRY(object.object("constants"));
  TRY(constants.get("max_l1", bundle.max_l1));
  TRY(constants.get("max_l2", bundle.max_l2));
  return bundle;
}

Result<Bundle> bundle_from_json(std::string_view text, const std::string& file) {
  Bundle bundle;
  TRY(read_json(text, file, "Is this a bundle of `parley data prepare`, and all of it?",
                [&](const JsonObject& object) -> Result<void> {
                  bundle = TRY(bundle_of(object));
                  return {};
                }));
  if (to_json(bundle) != text)
    return Error{Code::kInvalid,
                 "is not as `parley data prepare` writes it",
                 "The file was edited: get it as it was made.",
                 {.file = file}};
  return bundle;
}

}  // namespace parley::data
