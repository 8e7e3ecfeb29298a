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
  study.expect(grid.sizes.size() * (work(literal(profile, some), budgets.size(), grid.runs) +
                                    work(sound.plan(some), budgets.size(), grid.runs)));
  for (size_t s = 0; s < grid.sizes.size(); ++s) {
    const Banks banks = equal_banks(profile, records, grid.sizes[s], 0, study.threads);
    const Banks clipped = equal_banks(profile, records, grid.sizes[s], sound.clip, study.threads);
    const Samples as_written =
        TRY(sample(study, banks, literal(profile, banks), budgets, grid.runs, 2 * s));
    const Samples ours =
        TRY(sample(study, clipped, sound.plan(clipped), budgets, grid.runs, 2 * s + 1));
    grid.literal.emplace_back(), grid.sound.emplace_back();
    for (const auto& each : as_written) grid.literal.back().push_back(mean(each.spread()));
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
  Estimate by_epsilon{}, by_size{};
  const auto keep_larger = [](Estimate& worst, const Estimate& next) {
    if (!(worst.value >= next.value)) worst = next;
  };
  for (size_t s = 0; s < grid.sizes.size(); ++s)
    for (size_t e = 0; e < kEpsilons.size(); ++e) {
      const Estimate& here = grid.literal[s][e];
      if (e > 0) keep_larger(by_epsilon, ratio(here, grid.literal[s][e - 1]));
      if (s > 0) keep_larger(by_size, ratio(here, grid.literal[s - 1][e]));
    }
  std::vector<Measure> measures = {
      measured("E ψ from one ε to the next, largest ratio", by_epsilon),
      measured("E ψ from one size to the next, largest ratio", by_size)};
  for (Measure& measure : measures) measure.most = 1;
  if (grid.sizes.size() < 2) measures.pop_back();
  return measures;
}

Panel budget_curves(const Grid& grid, const std::string& sound_name) {
  Panel panel{.title = "over the budget", .x = kBudget, .y = kMean};
  for (size_t s = 0; s < grid.sizes.size(); ++s) {
    const Curve curve = over_epsilon(grid.literal, s);
    panel.series.push_back(curve.series("n_i = " + grouped(grid.sizes[s])));
    panel.series.push_back(curve.line(-2, s == 0 ? "slope −2" : ""));
  }
  panel.series.push_back(over_epsilon(grid.sound, grid.sizes.size() - 1)
                             .series(sound_name + ", " + grouped(grid.sizes.back()), true));
  return panel;
}

Panel size_curves(const Grid& grid) {
  Panel panel{.title = "over the size", .x = kSize, .y = kMean};
  for (size_t e = 0; e < kEpsilons.size(); e += 2) {
    const Curve curve = over_size(grid, grid.literal, e);
    panel.series.push_back(curve.series(epsilon_text(kEpsilons[e])));
    panel.series.push_back(curve.line(-2, e == 0 ? "slope −2" : ""));
  }
  return panel;
}

}  // namespace parley::reproduce::sync
