// What a reproduction leaves: CSV and SVG of each figure, one page that gathers all, a table of
// verdicts, and the same for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct Reproduction {
  std::vector<Figure> figures{};
  bool quick = false;
  uint64_t seed = 1;
  std::string data{};  // the folder of --data; empty: stand-ins
  double seconds = 0;
};

/// One line per point: panel, series, x, y, z, 25 %, 75 %, standard error, whether marked.
std::string csv_of(const Figure& figure);
/// One line per measure of all figures.
std::string verdicts_csv(const std::vector<Figure>& figures);
/// The table of verdicts, in Markdown: one line per figure, with its deciding measures.
std::string verdicts_markdown(const std::vector<Figure>& figures);
/// Everything on one page that needs no other file and can be printed.
std::string page_of(const Reproduction& reproduction);
/// formats/json: parley.reproduce/1.
std::string to_json(const Reproduction& reproduction);
std::string to_text(const Reproduction& reproduction, const std::filesystem::path& out);

/// ID.csv and ID.svg.
Result<void> write_figure(const Figure& figure, const std::filesystem::path& out);
/// index.html, verdicts.csv, verdicts.md and reproduce.json.
Result<void> write_summary(const Reproduction& reproduction, const std::filesystem::path& out);

/// "−2.004 ± 0.006", with as many digits as the error allows.
std::string with_error(const Measure& measure);
/// "−2", or "from 0.05 to 0.2" where the paper says no number.
std::string promised(const Measure& measure);

}  // namespace parley::reproduce
