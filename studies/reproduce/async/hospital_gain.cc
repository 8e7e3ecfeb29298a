// A-F7: which of 86 hospitals gain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/async/hospital.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {

using namespace async;

namespace {

using sim::monte_carlo::Population;

const std::vector<double> kGainEpsilons = {0.1, 1, 10};

/// What each hospital reaches alone, and which would gain at this fitness.
struct Hospitals {
  std::vector<double> sizes{}, alone{};
  Estimate gaining(const Estimate& joint) const {
    const auto above = [&](double level) {
      return double(std::ranges::count_if(alone, [&](double own) { return own > level; }));
    };
    return {above(joint.value),
            (above(joint.value - joint.error) - above(joint.value + joint.error)) / 2};
  }
  /// The nearest above the line, and the nearest below it, over the line.
  Estimate nearest(const Estimate& joint, bool above) const {
    double own = above ? HUGE_VAL : 0;
    for (double each : alone)
      if ((each > joint.value) == above) own = above ? std::min(own, each) : std::max(own, each);
    return own > 0 && std::isfinite(own) ? ratio({own, 0}, joint) : Estimate{};
  }
};

Hospitals hospitals_of(const Records& records, const Population& owners) {
  Hospitals hospitals;
  for (size_t i = 0; i < records.sizes.size(); ++i) {
    hospitals.sizes.push_back(double(records.sizes[i]));
    hospitals.alone.push_back(alone(owners, i));
  }
  return hospitals;
}

Panel markers_and_lines(const std::string& title, const Hospitals& hospitals,
                        const std::vector<Estimate>& joint, bool sound) {
  Panel panel{.title = title,
              .x = {.label = "stays of the hospital n_i", .log = true},
              .y = {.label = "relative fitness ψ", .log = true}};
  for (size_t e = 0; e < kGainEpsilons.size(); ++e)
    panel.series.push_back({.name = epsilon_text(kGainEpsilons[e]),
                            .kind = Series::Kind::kLevel,
                            .y = {joint[e].value},
                            .error = {joint[e].error},
                            .sound = sound});
  panel.series.push_back({.name = "each alone",
                          .kind = Series::Kind::kMarkers,
                          .x = hospitals.sizes,
                          .y = hospitals.alone});
  return panel;
}

/// Names of the hospitals above the line, for the note.
std::string names_above(const Records& records, const Hospitals& hospitals, double level) {
  std::string names;
  for (size_t i = 0; i < records.names.size(); ++i)
    if (hospitals.alone[i] > level) names += (names.empty() ? "" : ", ") + records.names[i];
  return names.empty() ? "none" : names;
}

/// The sentence names eight hospitals of the paper's file: another file cannot say.
Measure eight(const Study& study, const Hospitals& hospitals, const Estimate& joint) {
  Measure measure = between("hospitals that gain at ε = 10", hospitals.gaining(joint), 7.5, 8.5);
  measure.paper = 8, measure.fitted = study.data.empty();
  measure.decides = study.data.empty();
  return measure;
}

std::vector<Measure> gains_beside(const Hospitals& hospitals, const std::vector<Estimate>& letter,
                                  const std::vector<Estimate>& sound) {
  std::vector<Measure> measures = {beside("own ψ over E ψ at ε = 10, the least of those that gain",
                                          hospitals.nearest(letter[2], true)),
                                   beside("own ψ over E ψ at ε = 10, the most of the others",
                                          hospitals.nearest(letter[2], false))};
  for (size_t e = 0; e < kGainEpsilons.size(); ++e) {
    const std::string at = epsilon_text(kGainEpsilons[e]);
    if (e < 2)
      measures.push_back(beside("hospitals that gain, " + at, hospitals.gaining(letter[e])));
    measures.push_back(
        beside("hospitals that gain, capped, Ξ enforced, " + at, hospitals.gaining(sound[e])));
    measures.push_back(beside("E ψ to the letter, " + at, letter[e]));
    measures.push_back(beside("E ψ capped, Ξ enforced, " + at, sound[e]));
  }
  return measures;
}

/// What is drawn, and what the sound variant does.
Result<void> add_lines(const Study& study, const Records& records, const Hospitals& hospitals,
                       const AsyncPlan& literal, const std::vector<Estimate>& letter,
                       Figure& figure) {
  const Population enforced = owners_of(records, records.sizes, kHospitals.bound, study.threads);
  const auto sound = means_of(
      TRY(sample(study, enforced, capped(literal), kGainEpsilons, study.runs_or(24, 4), 1)));
  const size_t cap = (kAsyncRounds + records.sizes.size() - 1) / records.sizes.size();
  figure.panels = {
      markers_and_lines("lines: to the letter, E ψ(θ_L,T)", hospitals, letter, false),
      markers_and_lines(fmt::format("lines: Ξ enforced, at most {} answers, mean of copies", cap),
                        hospitals, sound, true)};
  for (Measure& measure : gains_beside(hospitals, letter, sound))
    figure.measures.push_back(std::move(measure));
  return {};
}

}  // namespace

Result<Figure> async_hospital_gain(const Study& study) {
  const SharedRecords records = TRY(hospital_records(study));
  const Population believed = owners_of(*records, records->sizes, kUnclipped, study.threads);
  Figure figure = async_figure(
      study, "A-F7", "Figure 7", "which hospitals gain",
      "For ε = 10, eight hospitals (i.e., Women And Children’s Hospital Of Buffalo, Crouse "
      "Hospital, "
      "St Peters Hospital, White Plains Hospital Center, Westchester Medical Center, Memorial "
      "Hospital for Cancer and Allied Diseases, Long Island Jewish Schneiders Children’s Hospital "
      "Division, St Francis Hospital) benefit from collaboration.");
  figure.runs = study.runs_or(200, 8);
  study.expect(kGainEpsilons.size() * figure.runs * kAsyncRounds);
  AsyncPlan literal = kHospitals;
  literal.step = stable_step(believed, literal.step);
  const auto letter =
      means_of(TRY(sample(study, believed, literal, kGainEpsilons, figure.runs, 0)));
  const Hospitals hospitals = hospitals_of(*records, believed);
  add_hospital_settings(figure, *records, literal.step);
  figure.measures = {eight(study, hospitals, letter[2])};
  if (!study.further) TRY(add_lines(study, *records, hospitals, literal, letter, figure));
  figure.data = records->source;
  figure.note = "Above the line to the letter at ε = 10: " +
                names_above(*records, hospitals, letter[2].value) +
                (study.data.empty()
                     ? ". The stand-in has eight speciality hospitals, and Ξ was set so that the "
                       "line falls between them and the others: calibration, not confirmation."
                     : ". The sentence is about hospitals of the paper's own file.") +
                " What the cap of T/N answers changes was not fitted.";
  return figure;
}

}  // namespace parley::reproduce
