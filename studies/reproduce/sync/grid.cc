#include "studies/reproduce/sync/grid.h"

#include <fmt/format.h>

#include <cmath>

#include "parley/base/math/number.h"

namespace parley::reproduce::sync {

const Axis kBudget{.label = "privacy budget ε of each bank", .log = true};
const Axis kSize{.label = "records of each bank n_i", .log = true};
const Axis kMean{.label = "mean relative fitness E ψ(θ̄[T])", .log = true};

namespace {

/// Studies may share what they have computed.
std::string full_key(const Study& study, const std::string& key, uint64_t runs) {
  return fmt::format("{}, {} runs, seed {}{}", key, runs, study.seed, study.quick ? ", quick" : "");
}

}  // namespace

SharedGrid known_grid(const Study& study, const std::string& key, uint64_t runs) {
  const auto known = study.computed->find(full_key(study, key, runs));
  return known == study.computed->end() ? nullptr : std::any_cast<SharedGrid>(known->second);
}

Result<SharedGrid> fill_grid(const Study& study, const std::string& key, Grid grid,
                             const Profile& profile, const Sound& sound, double shorten_to) {
  const data::Rows& all = grid.records->rows;
  const data::Rows records = shorten_to > 0 ? shortened(all, shorten_to) : all;
  const auto budgets = equal_budgets(kEpsilons);
  const Banks some = equal_banks(profile, records, grid.sizes.front(), 0, study.threads);
  study.expect(grid.sizes.size() *
               (work(literal(profile, some), budgets.size(), grid.runs) +
                (study.further ? 0 : work(sound.plan(some), budgets.size(), grid.runs))));
  for (size_t s = 0; s < grid.sizes.size(); ++s) {
    const Banks banks = equal_banks(profile, records, grid.sizes[s], 0, study.threads);
    const Samples as_written =
        TRY(sample(study, banks, literal(profile, banks), budgets, grid.runs, 2 * s));
    grid.literal.emplace_back(), grid.sound.emplace_back();
    for (const auto& each : as_written) grid.literal.back().push_back(mean(each.spread()));
    if (study.further) continue;
    const Banks clipped = equal_banks(profile, records, grid.sizes[s], sound.clip, study.threads);
    const Samples ours =
        TRY(sample(study, clipped, sound.plan(clipped), budgets, grid.runs, 2 * s + 1));
    for (const auto& each : ours) grid.sound.back().push_back(mean(each.spread()));
  }
  auto result = std::make_shared<const Grid>(std::move(grid));
  study.computed->emplace(full_key(study, key, result->runs), result);
  return result;
}

data::Rows shortened(const data::Rows& rows, double length) {
  data::Rows result(rows.columns());
  result.reserve(rows.size());
  std::vector<double> z(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    double norm = 0;
    for (double value : rows.row(i)) norm += std::fabs(value);
    const double factor = norm > length ? length / norm : 1;
    for (size_t j = 0; j < z.size(); ++j) z[j] = factor * rows.row(i)[j];
    result.add(z, rows.label(i));
  }
  return result;
}

Curve over_epsilon(const std::vector<std::vector<Estimate>>& means, size_t size) {
  Curve curve;
  for (size_t e = 0; e < kEpsilons.size(); ++e) curve.add(kEpsilons[e], means[size][e]);
  return curve;
}

Curve over_size(const Grid& grid, const std::vector<std::vector<Estimate>>& means, size_t epsilon) {
  Curve curve;
  for (size_t s = 0; s < grid.sizes.size(); ++s)
    curve.add(double(grid.sizes[s]), means[s][epsilon]);
  return curve;
}

Panel surface(std::string title, const Grid& grid,
              const std::vector<std::vector<Estimate>>& means) {
  Surface surface{.x = kEpsilons, .z = kMean};
  for (size_t s = 0; s < grid.sizes.size(); ++s) {
    surface.y.push_back(double(grid.sizes[s]));
    for (const Estimate& cell : means[s])
      surface.value.push_back(cell.value), surface.error.push_back(cell.error);
  }
  return {.title = std::move(title), .x = kBudget, .y = kSize, .surface = surface};
}

std::vector<Measure> falls_everywhere(const Grid& grid) {
  std::vector<Measure> measures;
  Estimate largest{0, 0};
  const auto add = [&](const char* tally, size_t s, size_t e, const Estimate& before) {
    const Estimate step = ratio(grid.literal[s][e], before);
    measures.push_back(compared(
        tally, fmt::format("{}: n_i = {}, ε = {:g}", tally, grouped(grid.sizes[s]), kEpsilons[e]),
        step, 0, 1));
    if (step.value > largest.value) largest = step;
  };
  for (size_t s = 0; s < grid.sizes.size(); ++s)
    for (size_t e = 0; e < kEpsilons.size(); ++e) {
      if (e > 0) add("steps to a larger budget that lower E ψ", s, e, grid.literal[s][e - 1]);
      if (s > 0) add("steps to a larger size that lower E ψ", s, e, grid.literal[s - 1][e]);
    }
  measures.push_back(beside("E ψ over that one step before, the largest", largest));
  return measures;
}

namespace {

/// Theorem 2 bounds the noise's part by a constant over (n epsilon)^2. The paper fits its lines to
/// the points; here one constant is fitted to all of them.
double fitted_constant(const Grid& grid) {
  double sum = 0, count = 0;
  for (size_t s = 0; s < grid.sizes.size(); ++s)
    for (size_t e = 0; e < kEpsilons.size(); ++e, ++count)
      sum += std::log(grid.literal[s][e].value * std::pow(double(grid.sizes[s]) * kEpsilons[e], 2));
  return std::exp(sum / count);
}

const char kBoundName[] = "Theorem 2, constant fitted";

}  // namespace

Panel budget_curves(const Grid& grid, const std::string& sound_name) {
  Panel panel{.title = "over the budget", .x = kBudget, .y = kMean};
  const double constant = fitted_constant(grid);
  for (size_t s = 0; s < grid.sizes.size(); ++s) {
    const Curve curve = over_epsilon(grid.literal, s);
    panel.series.push_back(curve.series("n_i = " + grouped(grid.sizes[s])));
    panel.series.push_back(curve.theory(s == 0 ? kBoundName : "", [&](double epsilon) {
      return constant / std::pow(double(grid.sizes[s]) * epsilon, 2);
    }));
  }
  if (!grid.sound.back().empty())
    panel.series.push_back(over_epsilon(grid.sound, grid.sizes.size() - 1)
                               .series(sound_name + ", " + grouped(grid.sizes.back()), true));
  return panel;
}

Panel size_curves(const Grid& grid) {
  Panel panel{.title = "over the size", .x = kSize, .y = kMean};
  const double constant = fitted_constant(grid);
  for (size_t e = 0; e < kEpsilons.size(); e += 2) {
    const Curve curve = over_size(grid, grid.literal, e);
    panel.series.push_back(curve.series(epsilon_text(kEpsilons[e])));
    panel.series.push_back(curve.theory(e == 0 ? kBoundName : "", [&](double size) {
      return constant / std::pow(size * kEpsilons[e], 2);
    }));
  }
  return panel;
}

}  // namespace parley::reproduce::sync
