#include "parley/report/demo/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/report/own_figures.h"
#include "parley/report/page/html.h"
#include "parley/report/page/svg.h"

namespace parley::report {
namespace {

constexpr double kWidth = 1000, kHeight = 500;
constexpr const char* kPictureStyle =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1b1f24}"
    ".back{fill:#fff}.soft{fill:#5a6370}.grid{stroke:#d9dde3;stroke-width:1}"
    ".zero{stroke:#5a6370;stroke-width:1.5}.band{fill:#8a94a3;opacity:.28}"
    ".gain{fill:#1a7f4b}.same{fill:#98a1ad}.loss{fill:#c4432b}"
    ".alone{fill:#5a6370}.public{fill:#b7791f}.joint{fill:#fff;stroke:#2563b0;stroke-width:1.6}"
    ".jointdot{fill:#2563b0}.tick{stroke:#b7791f;stroke-width:2.2}.stem{stroke-width:5}"
    "@media(prefers-color-scheme:dark){text{fill:#e8eaed}.back{fill:#15181d}.soft{fill:#a3adba}"
    ".grid{stroke:#333941}.zero{stroke:#a3adba}.band{fill:#a3adba;opacity:.22}"
    ".gain{fill:#3fb37a}.same{fill:#6d7683}.loss{fill:#e5725b}.alone{fill:#a3adba}"
    ".public{fill:#e0a84a}.joint{fill:#15181d;stroke:#6aa3ea}.jointdot{fill:#6aa3ea}.tick{stroke:#"
    "e0a84a}}";

/// One owner, as gains against alone; above 0 is better whatever the metric.
struct Gains {
  size_t rows = 0;
  double own_public = 0, joint = 0, personal = 0;
  enum class Kind { kGain, kSame, kLoss } kind = Kind::kSame;
};

double better(const FiguresSummary& all, double value, double than) {
  return smaller_is_better(all.measure) ? than - value : value - than;
}

Gains gains_of(const learn::OwnerFigures& f, const FiguresSummary& all) {
  Gains found{.rows = f.trained,
              .own_public = better(all, f.own_public.value, f.alone.value),
              .joint = f.joint ? better(all, f.joint->value, f.alone.value) : 0,
              .personal = f.over_alone.value};
  if (counts(all.measure, all.worth, found.personal, f.alone.value))
    found.kind = Gains::Kind::kGain;
  if (counts(all.measure, all.worth, -found.personal, f.alone.value))
    found.kind = Gains::Kind::kLoss;
  return found;
}

/// From few rows to many.
std::vector<Gains> all_gains(const sim::SimulateResult& result, const FiguresSummary& all) {
  std::vector<Gains> found;
  for (const auto& own : result.figures)
    if (own.figures) found.push_back(gains_of(*own.figures, all));
  std::stable_sort(found.begin(), found.end(),
                   [](const Gains& a, const Gains& b) { return a.rows < b.rows; });
  return found;
}

/// Linear; `from` and `to` are pixels.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  double at(double value) const {
    return from + (std::clamp(value, low, high) - low) / (high - low) * (to - from);
  }
  bool holds(double value) const { return value >= low && value <= high; }
};

/// 1, 2 or 5 times a power of ten, so that a range has about `parts` of them.
double step_for(double range, double parts) {
  const double rough = range / parts, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1., 2., 5.})
    if (times * power >= rough * (1 - 1e-9)) return times * power;
  return 10 * power;
}

class Picture {
 public:
  void text(double x, double y, double size, std::string_view words, std::string_view anchor,
            std::string_view look = "", bool bold = false) {
    svg_.element("text",
                 {{"x", pixels(x)},
                  {"y", pixels(y)},
                  {"font-size", significant(size)},
                  {"text-anchor", std::string(anchor)},
                  {"class", std::string(look)},
                  {"font-weight", bold ? "600" : "400"}},
                 escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view look) {
    svg_.element("line", {{"x1", pixels(x1)},
                          {"y1", pixels(y1)},
                          {"x2", pixels(x2)},
                          {"y2", pixels(y2)},
                          {"class", std::string(look)}});
  }
  void rect(double x, double y, double width, double height, std::string_view look) {
    svg_.element("rect", {{"x", pixels(x)},
                          {"y", pixels(y)},
                          {"width", pixels(width)},
                          {"height", pixels(std::max(height, .8))},
                          {"class", std::string(look)}});
  }
  void circle(double x, double y, double radius, std::string_view look) {
    svg_.element("circle", {{"cx", pixels(x)},
                            {"cy", pixels(y)},
                            {"r", pixels(radius)},
                            {"class", std::string(look)}});
  }
  std::string done(const std::string& name) const {
    Svg whole;
    whole.element("style", {}, kPictureStyle);
    whole.element("g", {}, svg_.elements());
    return whole.picture({{"xmlns", "http://www.w3.org/2000/svg"},
                          {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", kWidth, kHeight)},
                          {"role", "img"},
                          {"aria-label", name}});
  }

 private:
  Svg svg_{};
};

std::string title_of_picture(const Demo& demo, const FiguresSummary& all) {
  const GainSummary& gains = all.against_alone;
  if (nothing_gained(all))
    return fmt::format("Nothing material is to be gained here: of {} {} {} gain, {} lose",
                       all.owners, demo.owners, gains.material, gains.lost);
  if (nothing_of_the_job(all))
    return fmt::format("{} of {} {} gain against alone, by the public rows, not by the job",
                       gains.material, all.owners, demo.owners);
  return fmt::format(
      "{} of {} {} predict better together than alone; {}", gains.material, all.owners, demo.owners,
      gains.lost == 0 ? std::string("none worse") : fmt::format("{} worse", gains.lost));
}

/// The means: a mark for each way, at its distance from alone.
void draw_means(Picture& picture, const Demo& demo, const FiguresSummary& all) {
  constexpr double kLeft = 24, kFrom = 196, kTo = 356, kTop = 150, kApart = 68;
  struct Way {
    const char* name;
    std::string what;
    double value;
    const char* look;
  };
  const std::string public_rows =
      fmt::format("with {} public {}", grouped(demo.forecast.basis.pilot_rows), demo.rows);
  const Way ways[] = {{"alone", "own " + demo.rows + " only", all.alone, "alone"},
                      {"own + public", public_rows, all.own_public, "public"},
                      {"joint", "the private model of all", all.joint, "jointdot"},
                      {"personal", "fitted to its own " + demo.rows, all.personal, "gain"}};
  double low = 0, high = 0;
  for (const Way& way : ways) {
    low = std::min(low, better(all, way.value, all.alone));
    high = std::max(high, better(all, way.value, all.alone));
  }
  const Scale x{low, std::max(high, low + 1e-9), kFrom, kTo};
  picture.text(kLeft, 108, 15,
               fmt::format("{} on {}, mean", title_of(all.measure),
                           demo.result.held_out > 0 ? "held-out " + demo.rows : "new " + demo.rows),
               "start", "", true);
  picture.line(x.at(0), kTop - 24, x.at(0), kTop + 3 * kApart + 22, "zero");
  for (size_t k = 0; k < std::size(ways); ++k) {
    const Way& way = ways[k];
    const double y = kTop + kApart * static_cast<double>(k);
    const double at = x.at(better(all, way.value, all.alone));
    picture.text(kLeft, y, 16, way.name, "start", "", true);
    picture.text(kLeft, y + 18, 12.5, way.what, "start", "soft");
    picture.rect(std::min(x.at(0), at), y - 7, std::fabs(at - x.at(0)), 14, way.look);
    picture.circle(at, y, 8, way.look);
    picture.text(kTo + 20, y + 6, 18, fmt::format("{:.3f}", way.value), "start", "", true);
  }
  picture.text(kLeft, kTop + 3 * kApart + 48, 12.5,
               smaller_is_better(all.measure) ? "Right of the line is better (smaller)."
                                              : "Right of the line is better; 0.5 is guessing.",
               "start", "soft");
}

Scale gains_scale(const std::vector<Gains>& gains, double bottom, double top) {
  double low = 0, high = 0;
  for (const Gains& each : gains) {
    low = std::min({low, each.personal, each.own_public});
    high = std::max({high, each.personal, each.own_public});
  }
  const double more = std::max(.08 * (high - low), 1e-6);
  return {low - more, high + more, bottom, top};
}

void draw_axis(Picture& picture, const Scale& y, double left, double right) {
  const double step = step_for(y.high - y.low, 5);
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step))));
  for (double k = std::ceil(y.low / step); k * step <= y.high; ++k) {
    const double value = k * step;
    picture.line(left, y.at(value), right, y.at(value), k == 0 ? "zero" : "grid");
    picture.text(left - 8, y.at(value) + 4, 12,
                 k == 0 ? "0" : fmt::format("{:+.{}f}", value, digits), "end", "soft");
  }
}

/// A column for each owner, from few rows to many.
void draw_owners(Picture& picture, const Demo& demo, const FiguresSummary& all) {
  constexpr double kLeft = 520, kRight = 976, kTop = 132, kBottom = 386;
  const std::vector<Gains> gains = all_gains(demo.result, all);
  const Scale y = gains_scale(gains, kBottom, kTop);
  picture.text(kLeft - 44, 108, 15,
               fmt::format("What each of the {} gains in {}, against alone",
                           gains.size() == 1 ? demo.owners
                                             : std::to_string(gains.size()) + " " + demo.owners,
                           title_of(all.measure)),
               "start", "", true);
  draw_axis(picture, y, kLeft, kRight);
  const double counts_from = smaller_is_better(all.measure) ? all.worth * all.alone : all.worth;
  picture.rect(kLeft, y.at(counts_from), kRight - kLeft, y.at(-counts_from) - y.at(counts_from),
               "band");
  const double wide = (kRight - kLeft) / static_cast<double>(gains.size());
  constexpr const char* kLooks[] = {"gain", "same", "loss"};
  for (size_t i = 0; i < gains.size(); ++i) {
    const Gains& each = gains[i];
    const double middle = kLeft + wide * (static_cast<double>(i) + .5);
    const double bar = std::clamp(.68 * wide, 1.5, 26.);
    const double top = std::min(y.at(0), y.at(each.personal));
    picture.rect(middle - bar / 2, top, bar, std::fabs(y.at(0) - y.at(each.personal)),
                 kLooks[static_cast<int>(each.kind)]);
    picture.line(middle - bar / 2 - 1, y.at(each.own_public), middle + bar / 2 + 1,
                 y.at(each.own_public), "tick");
    if (y.holds(each.joint))
      picture.circle(middle, y.at(each.joint), std::clamp(.26 * wide, 1., 4.), "joint");
  }
  picture.text(kLeft, kBottom + 20, 12.5,
               fmt::format("{} {}", grouped(gains.front().rows), demo.rows), "start", "soft");
  picture.text((kLeft + kRight) / 2, kBottom + 20, 12.5, "few of its own  →  many", "middle",
               "soft");
  picture.text(kRight, kBottom + 20, 12.5,
               fmt::format("{} {}", grouped(gains.back().rows), demo.rows), "end", "soft");
}

void draw_legend(Picture& picture, const FiguresSummary& all) {
  constexpr double kFirst = 440, kSecond = 468;
  picture.rect(476, kFirst - 11, 12, 14, "gain");
  picture.text(494, kFirst, 13, "personal model gains", "start");
  picture.rect(654, kFirst - 11, 12, 14, "loss");
  picture.text(672, kFirst, 13, "loses", "start");
  picture.rect(726, kFirst - 11, 12, 14, "band");
  picture.text(744, kFirst, 13, "too little to count (" + worth_text(all) + ")", "start");
  picture.line(476, kSecond - 5, 490, kSecond - 5, "tick");
  picture.text(496, kSecond, 13, "own + public: free, without any job", "start");
  picture.circle(752, kSecond - 5, 4, "joint");
  picture.text(763, kSecond, 13, "the joint model as it is", "start");
}

}  // namespace

std::string picture_of(const Demo& demo) {
  const auto summaries = summaries_of(demo.result);
  if (summaries.empty()) return "";
  const FiguresSummary& all = summaries.front();
  const std::string title = title_of_picture(demo, all);
  Picture picture;
  picture.rect(0, 0, kWidth, kHeight, "back");
  picture.text(24, 42, 23, title, "start", "", true);
  picture.text(24, 68, 14.5,
               fmt::format("Each keeps its {} to itself and spends ε = {} of differential privacy. "
                           "Against own + public, which is free, {} gain and {} lose.",
                           demo.rows, significant(demo.forecast.owners.front().epsilon),
                           all.against_own_public.material, all.against_own_public.lost),
               "start", "soft");
  draw_means(picture, demo, all);
  draw_owners(picture, demo, all);
  draw_legend(picture, all);
  return picture.done(title);
}

}  // namespace parley::report
