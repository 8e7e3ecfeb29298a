// What a reproduction leaves: CSV and SVG of each figure, one page that gathers all, a table of
// verdicts, and the same for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/reproduce/verdict.h"

namespace parley::reproduce {

struct Reproduction {
  std::vector<Figure> figures{};
  bool quick = false;
  uint64_t seed = 1;
  std::string data{};                // the folder of --data; empty: stand-ins
  uint64_t draws = 1;                // of stand-ins
  std::vector<std::string> asked{};  // figures by name; empty: all
};

/// One line per point: panel, series, x, y, z, 25 %, 75 %, standard error, whether marked.
std::string csv_of(const Figure& figure);
/// One line per measure of all figures.
std::string verdicts_csv(const std::vector<Figure>& figures);
/// The table of verdicts, in Markdown: the paper's sentence and, line by line, what was measured of
/// it; and how many items have which verdict.
std::string verdicts_markdown(const std::vector<Figure>& figures);
/// How the number of every deciding measure was broken, and of every comparison that one counts,
/// and which verdict noticed.
struct Mutation {
  std::string text{};
  size_t measures = 0, comparisons = 0, survivors = 0;  // of measures and comparisons
  size_t breaks = 0, by_construction = 0;
  size_t items = 0, own = 0, stand = 0;  // breaks: by the item's verdict, the measure's, none's
};
Mutation mutated(const std::vector<Figure>& figures);
/// Everything on one page that needs no other file and can be printed.
std::string page_of(const Reproduction& reproduction);
/// formats/json: parley.reproduce/1.
std::string to_json(const Reproduction& reproduction);
std::string to_text(const Reproduction& reproduction, const std::filesystem::path& out,
                    double seconds);

/// ID.csv and ID.svg.
Result<void> write_figure(const Figure& figure, const std::filesystem::path& out);
/// index.html, verdicts.csv, verdicts.md, mutations.txt and reproduce.json.
Result<void> write_summary(const Reproduction& reproduction, const std::filesystem::path& out);

/// "−2.004 ± 0.006", with as many digits as the error allows.
std::string with_error(const Measure& measure);
/// The number that the paper says; empty if it says none.
std::string promised(const Measure& measure);
/// Where the claim holds: "−2.1 to −1.9", "at most 1".
std::string accepted(const Measure& measure);
/// Is this line shown? Comparisons of a long tally are not; CSV and JSON have them.
bool shown(const std::vector<Measure>& measures, const Measure& measure);
/// "stand-in", "real records".
std::string data_words(DataKind kind);
/// The same with what value and error were taken over: "stand-in, 8 draws", "real records, 8 runs".
std::string data_words(DataKind kind, const Measure& measure);

}  // namespace parley::reproduce
