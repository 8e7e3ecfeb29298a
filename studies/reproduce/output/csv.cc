#include <cmath>

#include "parley/base/math/number.h"
#include "studies/reproduce/output/output.h"

namespace parley::reproduce {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string safe = "\"";
  for (char c : text) safe += c == '"' ? "\"\"" : std::string(1, c);
  return safe + "\"";
}

std::string cell(double value) { return std::isfinite(value) ? shortest(value) : ""; }

/// Element i, or nothing where a series has no such numbers.
std::string cell(const std::vector<double>& values, size_t i) {
  return i < values.size() ? cell(values[i]) : "";
}

void add_series(std::string& text, const Panel& panel, const Series& series) {
  for (size_t i = 0; i < series.y.size(); ++i)
    text += quoted(panel.title) + "," + quoted(series.name) + "," + cell(series.x, i) + "," +
            cell(series.y, i) + ",," + cell(series.low, i) + "," + cell(series.high, i) + "," +
            cell(series.error, i) + ",\n";
}

void add_surface(std::string& text, const Panel& panel) {
  const Surface& surface = *panel.surface;
  for (size_t i = 0; i < surface.y.size(); ++i)
    for (size_t j = 0; j < surface.x.size(); ++j) {
      const size_t k = i * surface.x.size() + j;
      text += quoted(panel.title) + "," + quoted(surface.z.label) + "," + cell(surface.x[j]) + "," +
              cell(surface.y[i]) + "," + cell(surface.value, k) + ",,," + cell(surface.error, k) +
              "," +
              (surface.marked.empty() ? ""
               : surface.marked[k]    ? "1"
                                      : "0") +
              "\n";
    }
}

}  // namespace

std::string csv_of(const Figure& figure) {
  std::string text = "panel,series,x,y,z,p25,p75,standard_error,marked\n";
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) add_series(text, panel, series);
    if (panel.surface) add_surface(text, panel);
  }
  return text;
}

std::string verdicts_csv(const std::vector<Figure>& figures) {
  std::string text =
      "id,data,quantity,measured,standard_error,draws,runs,paper,from,to,verdict,fitted_to_claim,"
      "decides,"
      "tally\n";
  const auto add = [&](const Figure& figure, DataKind kind, const std::vector<Measure>& measures) {
    for (const Measure& measure : measures)
      text += figure.id + "," + data_words(kind) + "," + quoted(measure.quantity) + "," +
              cell(measure.value) + "," + cell(measure.error) + "," +
              std::to_string(measure.draws) + "," + std::to_string(measure.runs) + "," +
              (measure.paper ? shortest(*measure.paper) : "") + "," + cell(measure.least) + "," +
              cell(measure.most) + "," + std::string(name_of(verdict_of(measure))) + "," +
              (measure.fitted ? "1" : "0") + "," + (measure.decides ? "1" : "0") + "," +
              quoted(measure.tally) + "\n";
  };
  for (const Figure& figure : figures) {
    add(figure, figure.kind, figure.measures);
    add(figure, DataKind::kStandin, figure.on_standin);
  }
  return text;
}

}  // namespace parley::reproduce
