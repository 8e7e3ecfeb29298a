#include "parley/api/fit/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/data/sources/source.h"
#include "parley/data/transforms/bounds_bundle.h"
#include "parley/forecast.h"
#include "parley/plan/budget.h"
#include "parley/plan/sums/gram.h"

namespace parley::api {
namespace {

Error wrong(std::string key, std::string what, std::string hint) {
  return {Code::kInvalid, std::move(what), std::move(hint), {.key = std::move(key)}};
}

bool is_range(const std::array<double, 2>& range) {
  return std::isfinite(range[0]) && std::isfinite(range[1]) && range[0] < range[1];
}

/// With a point, as TOML tells numbers from integers.
std::string toml_number(double value) {
  std::string text = shortest(value);
  if (text.find_first_of(".en") == text.npos) text += ".0";
  return text;
}

/// A charter says the same, but of a place that nobody wrote.
Result<void> check_delta(const FitSettings& fit) {
  const auto rows = static_cast<double>(fit.rows);
  if (fit.delta * rows < 1) return {};
  return wrong("delta",
               fmt::format("must be below 1/rows, which is {}, found {}", significant(1 / rows),
                           shortest(fit.delta)),
               fmt::format("Give for example delta = 1e-{}: with 1/rows a mechanism may publish "
                           "one whole record.",
                           static_cast<int>(std::ceil(std::log10(rows))) + 1));
}

bool of_classes(const FitSettings& fit) { return fit.loss == "logistic" || fit.loss == "hinge"; }

Result<void> check_settings(const FitSettings& fit) {
  if (!of_classes(fit) && fit.loss != "squared" && fit.loss != "huber")
    return wrong("loss", "must be logistic, hinge, squared or huber", "");
  if (!(fit.epsilon > 0 && std::isfinite(fit.epsilon)))
    return wrong("epsilon", "must be above 0", "For example 1.");
  if (!(fit.delta >= 0 && fit.delta <= 1e-3))
    return wrong("delta", "must lie between 0 and 0.001", "For example 1e-6; 0 for Laplace noise.");
  if (fit.rows == 0) return wrong("table", "has no rows", "");
  TRY(check_delta(fit));
  if (fit.columns.empty() || fit.columns.size() + 1 > data::kColumnsMax)
    return wrong("columns", "must be between 1 and 4095", "");
  if (fit.max_row_norm && !(*fit.max_row_norm >= 1e-6 && *fit.max_row_norm <= 1e6))
    return wrong("max_row_norm", "must lie between 1e-6 and 1e6", "For example 4.");
  if (fit.bounds.size() != fit.columns.size())
    return wrong("bounds",
                 fmt::format("are {}, features are {}", fit.bounds.size(), fit.columns.size()),
                 "Give a pair of public numbers for each feature.");
  for (const auto& range : fit.bounds)
    if (!is_range(range))
      return wrong("bounds", "must be pairs of finite numbers, the smaller first",
                   "They are public: take them from what the columns mean, not from the data.");
  if (!of_classes(fit) && !is_range(fit.target_bounds))
    return wrong("target_bounds", "must be two finite numbers, the smaller first",
                 "They are public: take them from what the target means, not from the data.");
  return {};
}

/// The numbers that a charter must have and that were not given. None depends on the rows but by
/// their number, which is public.
struct Plan {
  std::string protocol{};
  double l2, clip;
  double row_norm = 0;      // of rules statistics and gram
  double label_weight = 0;  // of rule statistics
};

double features_of(const FitSettings& fit) {
  return static_cast<double>(fit.columns.size()) + (fit.intercept ? 1 : 0);
}

/// Of a row, in the mechanism's norm.
double longest_row(const FitSettings& fit) {
  const double p = features_of(fit);
  return fit.max_row_norm.value_or(fit.delta == 0 ? p : std::sqrt(p));
}

/// How much the rows say above the noise.
double signal_of(const FitSettings& fit) {
  const double p = features_of(fit);
  return static_cast<double>(fit.rows) * fit.epsilon / (fit.delta == 0 ? p : std::sqrt(p));
}

/// From the first on a Gram matrix brings more than gradients alone, and from the second on
/// gradients are cut later, which biases the model less (docs/results/python.md says how they were
/// chosen).
constexpr double kGramSignal = 10'000, kLongGradients = 50'000;
constexpr uint64_t kGramRounds = 40;

/// By public numbers only: is there room for a Gram matrix of which most is no noise?
bool gram_pays(const FitSettings& fit) {
  if (fit.delta == 0 || fit.loss != "logistic" || fit.step) return false;
  if (features_of(fit) > 500 || signal_of(fit) < kGramSignal) return false;
  const auto rho = plan::rho_of(fit.epsilon, fit.delta);
  if (!rho) return false;
  const plan::GramJob job{.row_norm = longest_row(fit),
                          .columns = static_cast<size_t>(features_of(fit)),
                          .rows = static_cast<double>(fit.rows),
                          .clip = 1,
                          .rho = *rho};
  return plan::gram_noise(job).floor < plan::kGramWarned;
}

/// Noisy gradients from zero. The more the rows say above the noise, the more of them and the
/// longer steps; the thresholds were chosen on generated rows.
std::string gradient_steps(const FitSettings& fit, double p) {
  const bool pure = fit.delta == 0;
  const double signal = signal_of(fit);
  const uint64_t usual = signal < 200    ? (pure ? 5 : 10)
                         : signal < 1000 ? (pure ? 10 : 25)
                                         : (pure ? 25 : 60);
  const double curvature = of_classes(fit) ? .25 : 2;
  const double step = (signal < 1000 ? 2 : 8) / (curvature * (1 + p / 4));
  return fmt::format("rule = \"constant\"\nrounds = {}\nstep = {}\nmomentum = 0.5\n",
                     fit.rounds.value_or(usual), toml_number(fit.step.value_or(step)));
}

Plan plan_of(const FitSettings& fit, bool pilot) {
  const double p = features_of(fit), longest = longest_row(fit);
  Plan plan{.l2 = fit.l2.value_or(1e-4),
            .clip = fit.max_grad_norm.value_or(of_classes(fit) ? longest / 2 : longest)};
  if (pilot && fit.loss != "hinge") {
    plan.protocol = fmt::format("rule = \"pilot_newton\"\nrounds = {}\nstep = {}\n",
                                fit.rounds.value_or(3), toml_number(fit.step.value_or(1)));
  } else if (fit.loss == "squared" && p <= 500 && !fit.rounds) {
    plan.protocol = "rule = \"statistics\"\nrounds = 1\n";
    plan.row_norm = longest, plan.label_weight = std::max(1.0, longest / 2);
  } else if (gram_pays(fit)) {
    plan.protocol = fmt::format("rule = \"gram\"\nrounds = {}\nmomentum = 0.5\n",
                                fit.rounds.value_or(kGramRounds));
    plan.row_norm = longest;
    const double slope = std::max(fit.class_weights[0], fit.class_weights[1]);
    const double part = signal_of(fit) < kLongGradients ? .5 : .65;
    plan.clip = fit.max_grad_norm.value_or(part * slope * longest);
  } else {
    plan.protocol = gradient_steps(fit, p);
  }
  return plan;
}

std::string columns_text(const FitSettings& fit) {
  std::string text;
  for (size_t j = 0; j < fit.columns.size(); ++j) {
    const auto& [low, high] = fit.bounds[j];
    text += fmt::format(
        "[[column]]\nname = \"{}\"\nkind = \"number\"\nbounds = [{}, {}]\nmissing = {}\n\n",
        fit.columns[j], toml_number(low), toml_number(high), toml_number(low / 2 + high / 2));
  }
  return text;
}

std::string target_text(const FitSettings& fit) {
  if (of_classes(fit))
    return fmt::format("[target]\ncolumn = \"{}\"\nlevels = [\"0\", \"1\"]\n\n", fit.target);
  const auto& [low, high] = fit.target_bounds;
  const double center = fit.intercept ? low / 2 + high / 2 : 0;
  const double scale =
      fit.intercept ? high / 2 - low / 2 : std::max(std::fabs(low), std::fabs(high));
  return fmt::format("[target]\ncolumn = \"{}\"\nbounds = [{}, {}]\ncenter = {}\nscale = {}\n\n",
                     fit.target, toml_number(low), toml_number(high), toml_number(center),
                     toml_number(scale));
}

std::string model_text(const FitSettings& fit, const Plan& plan) {
  std::string text = fmt::format("[model]\nloss = \"{}\"\nbias = {}\nl2 = {}\nbox = 20.0\n",
                                 fit.loss, fit.intercept, toml_number(plan.l2));
  if (fit.loss == "huber") text += fmt::format("huber_delta = {}\n", toml_number(fit.huber_delta));
  if (fit.class_weights != std::array<double, 2>{1, 1})
    text += fmt::format("class_weights = [{}, {}]\n", toml_number(fit.class_weights[0]),
                        toml_number(fit.class_weights[1]));
  return text + "\n";
}

std::string privacy_text(const FitSettings& fit, const Plan& plan) {
  std::string text = fmt::format("[privacy]\nmechanism = \"{}\"\nevaluate = 0.0\n",
                                 fit.delta == 0 ? "laplace" : "gaussian");
  if (plan.row_norm > 0) text += fmt::format("max_row_norm = {}\n", toml_number(plan.row_norm));
  if (plan.label_weight > 0)
    return text + fmt::format("label_weight = {}\n\n", toml_number(plan.label_weight));
  return text + fmt::format("max_grad_norm = {}\n\n", toml_number(plan.clip));
}

/// `files` names pilot and bundle.
std::string charter_text(const FitSettings& fit, const std::string& files, bool pilot) {
  const Plan plan = plan_of(fit, pilot);
  return fmt::format("[charter]\nversion = 1\nname = \"{}\"\nconsortium = \"local\"\n\n{}", fit.job,
                     files) +
         target_text(fit) + columns_text(fit) + model_text(fit, plan) +
         "[protocol]\nname = \"sync\"\n" + plan.protocol + "\n" + privacy_text(fit, plan) +
         fmt::format("[[owner]]\nname = \"{}\"\nrows = {}\nepsilon = {}\ndelta = {}\n\n", fit.owner,
                     fit.rows, toml_number(fit.epsilon), toml_number(fit.delta)) +
         "[learner]\nname = \"here\"\n";
}

/// Numbers to [-1, 1]; through the origin where there is no intercept.
data::Bundle bundle_of_bounds(const FitSettings& fit, const charter::Charter& draft,
                              const data::Rows* pilot) {
  data::Bundle bundle = pilot ? data::bounds_bundle(*pilot, draft.schema, draft.pilot->sha256)
                              : data::bounds_bundle(draft.schema);
  if (fit.intercept) return bundle;
  for (size_t j = 0; j < fit.bounds.size(); ++j) {
    bundle.mean[j] = 0;
    bundle.scale[j] = std::max(std::fabs(fit.bounds[j][0]), std::fabs(fit.bounds[j][1]));
  }
  return bundle;
}

}  // namespace

Result<FitFiles> fit_files(const FitSettings& fit, const std::string& pilot,
                           const std::filesystem::path& folder) {
  TRY(check_settings(fit));
  std::string files;
  if (!pilot.empty()) {
    const auto lines = std::count(pilot.begin(), pilot.end(), '\n') - 1;
    files = fmt::format("[pilot]\nfile = \"pilot.csv\"\nsha256 = \"{}\"\nrows = {}\n\n",
                        to_hex(sha256(as_bytes(pilot))), lines);
  }
  const charter::Charter draft =
      TRY(charter::parse_charter(charter_text(fit, files, !pilot.empty()), "charter", folder, {}));
  std::shared_ptr<const data::Rows> rows;
  if (!pilot.empty()) {
    const data::Source source = data::source_of(folder / "pilot.csv", {});
    rows = std::make_shared<const data::Rows>(
        TRY(data::load(source, data::encoding_of(draft.schema))).rows);
  }
  FitFiles found{.charter = {}, .bundle = data::to_json(bundle_of_bounds(fit, draft, rows.get()))};
  TRY(write_file(folder / "bundle.json", found.bundle));
  files += fmt::format("[preprocess]\nbundle = \"bundle.json\"\nsha256 = \"{}\"\n\n",
                       to_hex(sha256(as_bytes(found.bundle))));
  found.charter = charter_text(fit, files, !pilot.empty());
  return found;
}

}  // namespace parley::api
