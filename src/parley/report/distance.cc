#include "parley/report/distance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"

namespace parley::report {

std::string to_text(const learn::Distance& distance) {
  const std::string error = significant(distance.norm_error, 2);
  const std::string intercept =
      distance.intercept
          ? fmt::format(", and {} ± {} in the intercept", significant(*distance.intercept), error)
          : "";
  return fmt::format(
      "Paid distance: the rows of {} owners pull {} ± {} from the public rows' model{}, on "
      "average. `parley forecast --distance` with the model file says what follows for each.\n",
      distance.rows.size(), significant(distance.norm), error, intercept);
}

std::string to_json(const learn::Distance& distance) {
  nlohmann::ordered_json json = {{"norm", distance.norm}};
  if (distance.intercept) json["intercept_norm"] = *distance.intercept;
  json["norm_standard_error"] = distance.norm_error;
  json["owners"] = distance.rows.size();
  return json.dump();
}

}  // namespace parley::report
