#include "parley/report/distance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"

namespace parley::report {

std::string to_text(const learn::Distance& distance) {
  return fmt::format(
      "Paid distance: the rows of {} owners pull {} ± {} from the public rows' model, on average. "
      "`parley forecast --distance` with the model file says what follows for each.\n",
      distance.rows.size(), significant(distance.norm), significant(distance.norm_error, 2));
}

std::string to_json(const learn::Distance& distance) {
  return nlohmann::ordered_json{{"norm", distance.norm},
                                {"norm_standard_error", distance.norm_error},
                                {"owners", distance.rows.size()}}
      .dump();
}

}  // namespace parley::report
