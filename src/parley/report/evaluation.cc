#include "parley/report/evaluation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"

namespace parley::report {

std::string to_text(const learn::Evaluation& evaluation) {
  std::string text = fmt::format("Paid evaluation on all rows: loss {:.6f} ± {}", evaluation.loss,
                                 significant(evaluation.loss_error, 2));
  if (evaluation.accuracy)
    text += fmt::format(", accuracy {:.4f} ± {}", *evaluation.accuracy,
                        significant(*evaluation.accuracy_error, 2));
  return text +
         fmt::format(
             "\n(standard error of the noise; a record's loss counts at most {}, so the loss is "
             "larger where many lose more; l2 is not included).\n",
             significant(evaluation.loss_bound));
}

std::string to_json(const learn::Evaluation& evaluation) {
  nlohmann::ordered_json json = {{"loss", evaluation.loss},
                                 {"loss_standard_error", evaluation.loss_error},
                                 {"loss_bound", evaluation.loss_bound}};
  if (evaluation.accuracy) {
    json["accuracy"] = *evaluation.accuracy;
    json["accuracy_standard_error"] = *evaluation.accuracy_error;
  }
  return json.dump();
}

std::string to_json(const learn::PilotCheck& check) {
  nlohmann::ordered_json json = {{"statistic", check.statistic},
                                 {"threshold", check.threshold},
                                 {"dispersion", check.dispersion},
                                 {"gap", check.gap},
                                 {"alarm", check.alarm}};
  if (!check.left) return json.dump();
  json["left"] = {{"stop", check.left->stop}, {"go_on", check.left->go_on}};
  if (const auto& gram = check.left->gram)
    json["left"]["gram"] = {
        {"loss", gram->loss}, {"entry_noise", gram->entry}, {"floor", gram->floor}};
  return json.dump();
}

}  // namespace parley::report
