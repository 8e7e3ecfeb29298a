#include "studies/reproduce/draws.h"

#include <cmath>

#include "studies/reproduce/verdict.h"

namespace parley::reproduce {
namespace {

const Measure* named(const std::vector<Measure>& measures, const std::string& quantity) {
  for (const Measure& measure : measures)
    if (measure.quantity == quantity) return &measure;
  return nullptr;
}

Measure averaged(Measure measure, const std::vector<std::vector<Measure>>& draws) {
  const double n = double(draws.size());
  double mean = 0, squares = 0;
  std::vector<double> values;
  for (const auto& draw : draws) {
    const Measure* same = named(draw, measure.quantity);
    values.push_back(same ? same->value : kUnknown);
    mean += values.back() / n;
  }
  for (double value : values) squares += (value - mean) * (value - mean);
  measure.value = mean, measure.error = std::sqrt(squares / (n * (n - 1)));
  measure.draws = draws.size();
  return measure;
}

using Draws = std::vector<std::vector<std::vector<Measure>>>;  // by entry, then by draw

/// The further draws of a stand-in, from `first` on.
Result<Draws> drawn_again(const std::vector<const Entry*>& entries, const Study& study,
                          uint64_t first, uint64_t count, const Watch& watch) {
  Draws found(entries.size());
  for (uint64_t draw = first; draw < count; ++draw) {
    Study again = study.on_standin(draw);
    for (size_t k = 0; k < entries.size(); ++k) {
      if (entries[k]->data.empty() || draw >= entries[k]->draws_max) continue;
      watch.begin(*entries[k], draw, again);
      found[k].push_back(TRY(compute(*entries[k], again)).measures);
    }
  }
  return found;
}

}  // namespace

Study Study::on_standin(uint64_t draw) const {
  Study study = *this;
  study.data.clear();
  study.seed = seed + draw;
  study.further = true;
  study.kept = std::make_shared<std::map<std::string, std::shared_ptr<const Records>>>();
  study.computed = std::make_shared<std::map<std::string, std::any>>();
  return study;
}

std::vector<Measure> over_draws(const std::vector<std::vector<Measure>>& draws) {
  std::vector<Measure> result = draws.front();
  if (draws.size() < 2) return result;
  for (Measure& measure : result)
    if (measure.decides || !measure.tally.empty()) measure = averaged(std::move(measure), draws);
  return result;
}

Result<std::vector<Figure>> compute_all(const std::vector<const Entry*>& entries,
                                        const Study& study, uint64_t draws, const Watch& watch) {
  std::vector<Figure> figures;
  bool on_file = false;
  for (const Entry* entry : entries) {
    Study here = study;
    watch.begin(*entry, 0, here);
    figures.push_back(TRY(compute(*entry, here)));
    TRY(watch.drawn(figures.back()));
    on_file |=
        figures.back().kind == DataKind::kExcerpt || figures.back().kind == DataKind::kPapers;
  }
  study.kept->clear(), study.computed->clear();
  Draws found = TRY(drawn_again(entries, study, on_file ? 0 : 1, draws, watch));
  for (size_t k = 0; k < entries.size(); ++k) {
    Figure& figure = figures[k];
    const bool file = figure.kind == DataKind::kExcerpt || figure.kind == DataKind::kPapers;
    if (file && !found[k].empty()) figure.on_standin = over_draws(found[k]);
    if (figure.kind == DataKind::kStandin) {
      if (on_file && !found[k].empty()) found[k].erase(found[k].begin());
      found[k].insert(found[k].begin(), figure.measures);
      figure.measures = over_draws(found[k]);
    }
    count_tallies(figure.measures), count_tallies(figure.on_standin);
  }
  return figures;
}

}  // namespace parley::reproduce
