// Everything that ever left, searchable, with the hash that its receipt carries.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "parley/base/math/number.h"
#include "parley/report/console/console.h"
#include "parley/report/console/frame.h"
#include "parley/report/ledger.h"
#include "parley/report/page/html.h"
#include "parley/report/page/web.h"

namespace parley::report {
namespace {

std::string charter_name(const Console& console, const Hash& hash) {
  if (hash == Hash{}) return "";
  for (const ConsoleCharter& each : console.charters)
    if (each.id == to_hex(hash)) return each.preflight.name;
  return to_hex(hash).substr(0, 12);
}

std::string dataset_name(const Console& console, int64_t id) {
  for (const ledger::Dataset& each : console.datasets)
    if (each.id == id) return each.name;
  return std::to_string(id);
}

std::vector<std::string> cells_of(const Console& console, const ledger::Row& row) {
  const std::string cost =
      row.cost > 0 ? significant(row.cost, 4) + (row.track == "zcdp" ? " ρ" : " ε") : "";
  return {std::to_string(row.id),
          row.at,
          row.kind,
          dataset_name(console, row.dataset),
          charter_name(console, row.charter),
          row.charter == Hash{} ? "" : std::to_string(row.round),
          cost,
          said_in(row),
          to_hex(row.hash)};
}

bool holds(const std::string& text, const std::string& words) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), words.begin(), words.end(), same) != text.end();
}

std::string count_of(const ledger::Contents& found, const LedgerSearch& search) {
  if (found.rows.empty()) return search.words.empty() ? "Nothing has left yet." : "Nothing found.";
  return fmt::format("{} {}{}; here {} to {}.", grouped(found.matched),
                     found.matched == 1 ? "row" : "rows",
                     search.before ? fmt::format(" before row {}", *search.before) : "",
                     found.rows.front().id, found.rows.back().id);
}

std::string older(const ledger::Contents& found, const LedgerSearch& search) {
  if (found.matched == found.rows.size()) return "";
  return fmt::format("<p><a href=\"/left?q={}&amp;before={}\">Earlier rows</a></p>\n",
                     url_escaped(search.words), found.rows.front().id);
}

}  // namespace

bool wants(const Console& console, const LedgerSearch& search, const ledger::Row& row) {
  if (search.before && row.id >= *search.before) return false;
  const auto cells = cells_of(console, row);
  return std::any_of(cells.begin(), cells.end(),
                     [&](const std::string& cell) { return holds(cell, search.words); });
}

std::string left_page(const Console& console, const ledger::Contents& found,
                      const LedgerSearch& search) {
  std::string table;
  for (auto row = found.rows.rbegin(); row != found.rows.rend(); ++row)
    table += html_row(cells_of(console, *row), "td");
  return console_frame(
      console, "what has left",
      fmt::format(
          "<h1>What has left</h1>\n<p>Every row of the ledger. An answer left with a signed "
          "receipt that carries the hash of its row, and so vouches for all rows before "
          "it.</p>\n<form method=get "
          "action=\"/left\"><label>Search in all columns<input name=q "
          "value=\"{}\"></label><p class=act><button>Search</button></p></form>\n<p "
          "class=quiet>{}</p>\n<div class=wide tabindex=0 role=region "
          "aria-label=rows><table class=ledger>\n{}{}</table></div>\n{}",
          escaped(search.words), count_of(found, search),
          html_row({"row", "at", "what", "data set", "charter", "round", "cost", "said", "hash"},
                   "th"),
          table, older(found, search)));
}

}  // namespace parley::report
