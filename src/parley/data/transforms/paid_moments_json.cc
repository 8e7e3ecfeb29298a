#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/json_object.h"
#include "parley/data/transforms/paid_moments.h"

namespace parley::data {
namespace {

constexpr std::string_view kMomentsFormat = "parley.moments/1";

Result<Hash> get_moments_hash(const JsonObject& object, std::string_view key) {
  std::string hex;
  TRY(object.get(key, hex));
  const auto hash = hash_from_hex(hex);
  if (!hash) return object.error(key, "must be 64 hexadecimal digits");
  return *hash;
}

Result<Signature> get_signature(const JsonObject& object) {
  std::string hex;
  TRY(object.get("signature", hex));
  const auto bytes = from_hex(hex);
  Signature signature{};
  if (!bytes || bytes->size() != signature.size())
    return object.error("signature", "must be 128 hexadecimal digits");
  std::copy(bytes->begin(), bytes->end(), signature.begin());
  return signature;
}

}  // namespace

std::string to_json(const PaidMoments& moments) {
  nlohmann::json json = {{"format", kMomentsFormat},
                         {"owner", moments.owner},
                         {"charter_sha256", to_hex(moments.charter)},
                         {"columns_sha256", to_hex(moments.columns)},
                         {"rows", moments.rows},
                         {"epsilon", moments.epsilon},
                         {"delta", moments.delta},
                         {"noise_deviation", moments.deviation},
                         {"noise_deviation_beside", moments.beside},
                         {"upper_triangle", moments.upper}};
  if (moments.signature) json["signature"] = to_hex(*moments.signature);
  return json.dump() + "\n";
}

Bytes signed_bytes(const PaidMoments& moments) {
  TupleBytes tuple;
  tuple.add(kMomentsFormat).add(moments.owner).add(moments.charter).add(moments.columns);
  tuple.add(moments.rows).add(moments.epsilon).add(moments.delta);
  tuple.add(moments.deviation).add(moments.beside).add(uint64_t{moments.upper.size()});
  for (double value : moments.upper) tuple.add(value);
  return tuple.bytes();
}

Result<PaidMoments> moments_from_json(std::string_view text, const std::string& file) {
  PaidMoments moments;
  TRY(read_json(text, file, "Is this a file of `parley data prepare --paid`, and all of it?",
                [&](const JsonObject& object) -> Result<void> {
                  std::string format;
                  TRY(object.get("format", format));
                  if (format != kMomentsFormat)
                    return object.error("format", "is not parley.moments/1");
                  TRY(object.get("owner", moments.owner));
                  moments.charter = TRY(get_moments_hash(object, "charter_sha256"));
                  moments.columns = TRY(get_moments_hash(object, "columns_sha256"));
                  TRY(object.get("rows", moments.rows));
                  TRY(object.get("epsilon", moments.epsilon));
                  TRY(object.get("delta", moments.delta));
                  TRY(object.get("noise_deviation", moments.deviation));
                  TRY(object.get("noise_deviation_beside", moments.beside));
                  if (object.has("signature")) moments.signature = TRY(get_signature(object));
                  return object.get("upper_triangle", moments.upper);
                }));
  if (moments.rows == 0 || !(moments.deviation >= 0 && moments.beside >= 0))
    return Error{Code::kInvalid, "has no rows, or noise below 0", "", {.file = file}};
  return moments;
}

}  // namespace parley::data
