#include "parley/explain.h"

#include <nlohmann/json.hpp>

#include "parley/api/internal.h"
#include "parley/net/doctor/preflight.h"

namespace parley {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Error& error) {
  return {{"code", name_of(error.code)}, {"what", describe(error)}, {"hint", error.hint}};
}

}  // namespace

Result<Preflight> preflight(const Policy& handle, const Charter& charter,
                            const PreflightOptions& options) {
  const charter::Policy& policy = handle.internal().policy;
  const auto ledger = TRY(net::look_into_ledger(policy));
  return net::preflight_of(policy, charter.internal().charter, ledger,
                           {.dial = options.dial, .read_data = options.read_data});
}

std::string Preflight::explain() const { return charter::explain(*this); }

std::string Preflight::to_json() const {
  Json json = {{"name", name},
               {"charter", to_hex(charter)},
               {"runs", runs()},
               {"rule", rule == 0 ? Json() : Json(rule)},
               {"person", person},
               {"approved", approved},
               {"dataset", rule == 0 ? Json() : Json(dataset)},
               {"learner", learner},
               {"address", address},
               {"rows", rows},
               {"rows_counted", rows_counted},
               {"answers", answers},
               {"answered", answered},
               {"numbers", numbers},
               {"track", track == Track::kPure ? "pure" : "zcdp"},
               {"price", price},
               {"left", left},
               {"left_after", left_after},
               {"obstacles", Json::array()}};
  for (const Error& obstacle : obstacles) json["obstacles"].push_back(json_of(obstacle));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley
