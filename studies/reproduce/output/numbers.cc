#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/output/output.h"
#include "studies/reproduce/plot/scale.h"

namespace parley::reproduce {
namespace {

std::string with_unit(std::string text, const std::string& unit) {
  return unit.empty() ? text : text + " " + unit;
}

/// Two digits of the error, and the value to the same place.
std::string rounded_like(double value, double error) {
  const int places = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 12);
  std::string text = fmt::format("{:.{}f}", std::fabs(value), places);
  return (value < 0 ? "−" : "") + text;
}

}  // namespace

std::string with_error(const Measure& measure) {
  if (!std::isfinite(measure.value)) return "no value";
  if (!(measure.error > 0)) return with_unit(plain(measure.value, 4), measure.unit);
  const double size = std::max(std::fabs(measure.value), measure.error);
  if (size < 1e-3 || size >= 1e7) {
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    const double unit = std::pow(10, exponent), error = measure.error / unit;
    return with_unit("(" + rounded_like(measure.value / unit, error) + " ± " +
                         rounded_like(error, error) + ")" + times_ten_to(exponent),
                     measure.unit);
  }
  if (measure.error >= 10)
    return with_unit(plain(measure.value) + " ± " + plain(measure.error, 2), measure.unit);
  return with_unit(rounded_like(measure.value, measure.error) + " ± " +
                       rounded_like(measure.error, measure.error),
                   measure.unit);
}

std::string promised(const Measure& measure) {
  if (!measure.paper) return "";
  return (measure.read_as ? "read as " : "") + with_unit(plain(*measure.paper, 4), measure.unit);
}

std::string accepted(const Measure& measure) {
  const bool low = std::isfinite(measure.least), high = std::isfinite(measure.most);
  if (low && high && measure.least == measure.most)
    return with_unit(plain(measure.least, 4), measure.unit);
  std::string text = low && high ? plain(measure.least, 4) + " to " + plain(measure.most, 4)
                     : low       ? "at least " + plain(measure.least, 4)
                     : high      ? "at most " + plain(measure.most, 4)
                                 : "";
  return text.empty() ? text : with_unit(text, measure.unit);
}

bool shown(const std::vector<Measure>& measures, const Measure& measure) {
  constexpr auto kShort = 10;
  return measure.tally.empty() ||
         std::ranges::count(measures, measure.tally, &Measure::tally) <= kShort;
}

std::string data_words(DataKind kind) {
  constexpr const char* kWords[] = {"no data", "stand-in", "real records", "the paper's file"};
  return kWords[static_cast<int>(kind)];
}

std::string data_words(DataKind kind, const Measure& measure) {
  if (measure.draws > 1) return fmt::format("{}, {} draws", data_words(kind), measure.draws);
  if (measure.runs > 0) return fmt::format("{}, {} runs", data_words(kind), measure.runs);
  return data_words(kind);
}

}  // namespace parley::reproduce
