// The demo as one page: the picture, what was forecast and what came out, owner by owner; then the
// forecast's own page.
#include "parley/report/demo/beside.h"
#include "parley/report/demo/demo.h"
#include "parley/report/demo/picture.h"
#include "parley/report/demo/web.h"
#include "parley/report/own_figures.h"
#include "parley/report/page/html.h"

namespace parley::report {
namespace {

std::string table_of(const std::vector<std::vector<std::string>>& cells) {
  std::string text = "<div class=wide tabindex=0 role=group aria-label=table><table>\n";
  for (const auto& row : cells) text += html_row(row, &row == &cells.front() ? "th" : "td");
  return text + "</table></div>\n";
}

std::string paragraph(const std::string& words) { return "<p>" + escaped(words) + "</p>\n"; }

}  // namespace

std::string outcome_fragment(const Demo& demo, const std::string& picture) {
  const auto summaries = summaries_of(demo.result);
  if (summaries.empty()) return "<p>No owner has figures on rows of its own.</p>\n";
  const BesideTable both = beside(demo.forecast, demo.result);
  std::string story;
  for (const std::string& sentence : demo.story) story += sentence + " ";
  return "<div>" + picture + "</div>\n" + paragraph(story) +
         paragraph(gains_sentence(summaries.front()) + " " + nothing_sentence(summaries.front())) +
         "<h2>What was forecast, and what came out</h2>\n" +
         table_of(beside_cells(both, demo.forecast)) + paragraph(told_sentence(both)) +
         "<h2>Owner by owner, as it came out</h2>\n" + table_of(figures_cells(demo.result)) +
         "<p class=quiet>" + escaped(figures_notes(demo.result)) + "</p>\n";
}

std::string to_html(const Demo& demo) {
  if (summaries_of(demo.result).empty()) return to_html(demo.forecast);
  return to_html(demo.forecast, outcome_fragment(demo, picture_of(demo)) + "<hr>\n");
}

}  // namespace parley::report
