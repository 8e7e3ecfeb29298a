// What every figure and claim of the papers is computed to: the curves and surfaces as drawn there,
// the numbers that the paper's words promise, and what we measured of them. CSV, SVG, the page and
// the JSON are made from this struct, and the verdict follows from its numbers (verdict.h).
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"

namespace parley::reproduce {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Axis {
  std::string label{};  // with its symbol: "privacy budget ε of each owner"
  std::string unit{};   // "rows", "rounds"; empty: a pure number
  bool log = false;
  std::vector<std::string> names{};  // instead of numbers: values 0, 1, 2 ... are these
};

/// One curve, or one cloud of markers. Vectors other than x and y are as long as x or empty.
struct Series {
  enum class Kind {
    kLine,     // the measured, joined
    kMarkers,  // the measured, each on its own
    kTheory,   // a bound or fit, thin and without markers
    kBars,     // from zero; linear y only
    kLevel,    // one y across the panel; x is empty
  };
  std::string name{};  // stands beside the curve
  Kind kind = Kind::kLine;
  std::vector<double> x{}, y{};
  std::vector<double> low{}, high{};  // 25 % and 75 % of the runs: the band
  std::vector<double> error{};        // standard error of y
  bool sound = false;                 // ours beside the paper's: drawn in the second shade
};

/// z over a grid. value[i * x.size() + j] belongs to y[i] and x[j].
struct Surface {
  std::vector<double> x{}, y{};
  Axis z{};
  std::vector<double> value{};
  std::vector<double> error{};  // standard error, or empty
  std::vector<bool> marked{};   // cells with a frame, or empty
  std::string mark_means{};     // "collaboration beats owner 1 alone"
};

/// One pair of axes with curves, or one surface.
struct Panel {
  std::string title{};
  Axis x{}, y{};
  std::vector<Series> series{};
  std::optional<Surface> surface{};
};

/// What a measure is: how it can be wrong (verdict.h breaks it so).
enum class Quantity {
  kNumber,    // a level, ratio or count
  kExponent,  // the slope of a power law
};

/// A number that the paper promises, in its words or by its figure, and ours. verdict.h judges it.
struct Measure {
  std::string quantity{};         // "slope of log E ψ over log ε, n_i = 10,000"
  double value = kUnknown;        // what we measured
  double error = 0;               // its standard error; 0: no chance in it
  std::optional<double> paper{};  // what the paper says, if it says a number
  double least = -std::numeric_limits<double>::infinity();  // the claim holds from here ...
  double most = std::numeric_limits<double>::infinity();    // ... to here
  bool read_as = false;  // the paper's number, from a scan that does not show it clearly
  bool fitted = false;   // our free settings were chosen so that this comes out
  bool decides = true;   // false: told for comparison, as the sound variant's number
  /// Not empty: one of the comparisons of which this tally counts how many hold. The tally decides
  /// in their place.
  std::string tally{};
  bool counts = false;  // is such a tally
  uint64_t draws =
      1;  // of the stand-in, over which value and error were taken; 1: of the noise only
  uint64_t runs = 0;  // by which the error was found, where they are few; 0: many
  Quantity kind = Quantity::kNumber;
  std::string unit{};
};

/// What figures are computed on.
enum class DataKind {
  kNone,     // nothing, or numbers made for the purpose: a counterexample is one whatever the data
  kStandin,  // made from a seed, with several draws
  kExcerpt,  // real records of the papers' kind, fewer or others than theirs, or of a paper without
             // any
  kPapers,   // the paper's own file
};

struct Setting {
  std::string name{}, value{};
};

struct Figure {
  std::string id{};     // "A-F4"
  std::string paper{};  // "Farokhi et al."; empty: beyond the papers
  std::string item{};   // "Figure 4"
  std::string title{};
  std::string claim{};          // the paper's words
  std::vector<Panel> panels{};  // none for a claim without a figure
  std::vector<Measure> measures{};
  /// Of the stand-in, where `measures` are of a file.
  std::vector<Measure> on_standin{};
  DataKind kind = DataKind::kNone;  // of `measures`
  std::vector<Setting> settings{};  // profile, data, grid, rounds, steps, clip, mechanism
  std::string data{};               // "stand-in lending, 750,000 rows" or the file
  uint64_t seed = 1, runs = 0;
  std::string note{};  // what a reader must know to judge it
};

struct Records;

/// How the figures are computed. Every figure is a function Result<Figure>(const Study&).
struct Study {
  bool quick = false;  // small sizes and few runs, for tests: verdicts mean little
  uint64_t seed = 1;
  std::optional<uint64_t> runs{};  // instead of each figure's own number
  bool further = false;  // a further draw of the stand-in: only what decides, with fewer runs
  std::filesystem::path data{};  // folder with the papers' files; empty: stand-ins
  int threads = 1;
  /// A folder for finished runs, which are then not made again; empty: none.
  std::filesystem::path keep{};
  /// Hears how much work a figure will be, in units of its own, as soon as that is known.
  std::function<void(uint64_t units)> expect = [](uint64_t) {};
  /// Hears how many of those were done since it was last called; false: stop with an error.
  std::function<bool(uint64_t units)> go_on = [](uint64_t) { return true; };

  /// What was read or generated already, by its description (data/records.h).
  std::shared_ptr<std::map<std::string, std::shared_ptr<const Records>>> kept =
      std::make_shared<std::map<std::string, std::shared_ptr<const Records>>>();

  /// What several figures are drawn from, by its description.
  std::shared_ptr<std::map<std::string, std::any>> computed =
      std::make_shared<std::map<std::string, std::any>>();

  uint64_t runs_or(uint64_t full, uint64_t few) const {
    if (runs) return *runs;
    return quick ? few : further ? std::max(std::min<uint64_t>(full, 8), full / 4) : full;
  }
  /// The same on stand-ins, or on another draw of them; shares nothing that was computed.
  Study on_standin(uint64_t draw) const;
};

}  // namespace parley::reproduce
