#include <fmt/format.h>

#include <cctype>

#include "parley/base/math/number.h"
#include "parley/base/version.h"
#include "parley/report/page/html.h"
#include "studies/reproduce/output/output.h"
#include "studies/reproduce/plot/plot.h"

namespace parley::reproduce {
namespace {

using report::escaped;

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 Helvetica, Arial, "DejaVu Sans", sans-serif; color: #222; max-width: 920px;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: .2em; } h2 { font-size: 1.15em; margin: 2.4em 0 .3em; }
table { border-collapse: collapse; width: 100%; font-size: .87em; margin: .8em 0; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid #ddd; vertical-align: top; }
th { border-bottom: 2px solid #444; } td.n { white-space: nowrap; } sub { line-height: 0; }
blockquote { margin: .5em 0; padding-left: .8em; border-left: 3px solid #bbb; color: #444; }
.v { font-weight: bold; padding: 0 .4em; border: 1.5px solid #222; border-radius: 3px;
     white-space: nowrap; }
.refuted { background: #222; color: #fff; print-color-adjust: exact;
           -webkit-print-color-adjust: exact; }
.reproduced { background: #fff; }
.not { background: #fff; border-style: dashed; font-weight: normal; }
.beside td { color: #666; } a { color: #0b5c8a; } svg { max-width: 100%; height: auto; }
.note { background: #f6f6f6; padding: .5em .8em; } details { font-size: .87em; color: #444; }
@media print { section { break-inside: avoid-page; } body { margin: 0; max-width: none; font-size: 12px; }
               details { display: block; } })";

std::string badge(Verdict verdict) {
  const std::string_view kind = verdict == Verdict::kNotDecided ? "not" : name_of(verdict);
  return fmt::format(R"(<span class="v {}">{}</span>)", kind, name_of(verdict));
}

/// Escaped, with what follows a '_' as a subscript: n_i.
std::string with_subscripts(std::string_view text) {
  std::string result;
  for (size_t at = text.find('_'); at != text.npos; at = text.find('_')) {
    size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
    result += escaped(text.substr(0, at)) + "<sub>" + escaped(text.substr(at + 1, end - at - 1)) +
              "</sub>";
    text.remove_prefix(end);
  }
  return result + escaped(text);
}

std::string fitted_words(bool fitted) { return fitted ? "yes" : "no"; }

/// One line for each deciding measure, under the figure's own cells.
std::string summary_rows(const Figure& figure) {
  std::string rows;
  size_t count = 0;
  for (const Measure& measure : figure.measures) {
    if (!measure.decides) continue;
    rows += (count++ == 0 ? "" : "<tr class=\"more\">") +
            fmt::format("<td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                        with_subscripts(measure.quantity), escaped(with_error(measure)),
                        escaped(accepted(measure)));
  }
  if (count == 0) rows = "<td colspan=\"3\">nothing could be measured</td></tr>\n", count = 1;
  const std::string span = fmt::format("rowspan=\"{}\"", count);
  return fmt::format(
      "<tr><td class=\"n\" {4}><a href=\"#{0}\">{0}</a></td><td {4}>{1}</td><td {4}>{2}</td>"
      "<td {4}>{3}</td>{5}",
      escaped(figure.id), with_subscripts(figure.title), badge(verdict_of(figure)),
      fitted_words(fitted_to_claim(figure)), span, rows);
}

std::string judged_as(const Measure& measure) {
  if (measure.decides) return badge(verdict_of(measure));
  if (measure.tally.empty()) return "told beside";
  return "counts: " + std::string(name_of(verdict_of(measure)));
}

std::string measure_row(const Measure& measure, DataKind kind) {
  return fmt::format(
      "<tr{}><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
      "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
      measure.decides ? "" : " class=\"beside\"", with_subscripts(measure.quantity),
      escaped(with_error(measure)), escaped(promised(measure)), escaped(accepted(measure)),
      fitted_words(measure.fitted), data_words(kind, measure), judged_as(measure));
}

std::string measures_of(const Figure& figure) {
  std::string rows;
  const auto add = [&](const std::vector<Measure>& measures, DataKind kind) {
    for (const Measure& measure : measures)
      if (shown(measures, measure)) rows += measure_row(measure, kind);
  };
  add(figure.measures, figure.kind);
  add(figure.on_standin, DataKind::kStandin);
  if (rows.empty()) return "";
  return "<table><tr><th>measured</th><th>ours, ± standard error</th><th>the paper's</th>"
         "<th>accepted</th><th>fitted</th><th>data</th><th>verdict</th></tr>\n" +
         rows + "</table>\n";
}

std::string settings_of(const Figure& figure) {
  std::string text = fmt::format("Data: {}. Seed {}, {} runs. ", escaped(figure.data), figure.seed,
                                 grouped(figure.runs));
  for (const Setting& setting : figure.settings)
    text += escaped(setting.name) + ": " + with_subscripts(setting.value) + ". ";
  return "<details open><summary>Settings</summary>" + text + "</details>\n";
}

std::string section(const Figure& figure) {
  std::string text = fmt::format(
      "<section id=\"{}\">\n<h2>{} · {}, {}: {} {}</h2>\n<blockquote>{}</blockquote>\n",
      escaped(figure.id), escaped(figure.id),
      escaped(figure.paper.empty() ? "beyond the papers" : figure.paper), escaped(figure.item),
      with_subscripts(figure.title), badge(verdict_of(figure)), with_subscripts(figure.claim));
  text += svg_of(figure) + measures_of(figure);
  if (const std::string why = why_not_decided(figure); !why.empty())
    text += "<p class=\"note\">Not decided: " + escaped(why) + ".</p>\n";
  if (!figure.note.empty()) text += "<p class=\"note\">" + with_subscripts(figure.note) + "</p>\n";
  return text + settings_of(figure) + "</section>\n";
}

constexpr std::string_view kPapers =
    "<ul><li>S: Wu, Farokhi, Smith, Kaafar, “The Value of Collaboration in Convex Machine Learning "
    "with Differential Privacy”</li>\n"
    "<li>A: Farokhi, Wu, Smith, Kaafar, “The Cost of Privacy in Asynchronous "
    "Differentially-Private "
    "Machine Learning”</li>\n"
    "<li>V: Hu, Liu, Kong, Niu, “Learning Privately over Distributed Features: An ADMM Sharing "
    "Approach”</li>\n"
    "<li>H: Huang, “A Federated Algorithm for Privacy-Preserving Empirical Risk Minimization”</li>"
    "</ul>\n";

constexpr std::string_view kRules =
    "<p>A verdict follows from the numbers. An interval is the number ± three standard errors, or "
    "as many as Student's t asks for where the error comes from few draws of a stand-in or few "
    "runs. "
    "<em>Reproduced</em>: the intervals of all deciding measures lie within their accepted ranges. "
    "<em>Refuted</em>: one lies outside. <em>Not decided</em>: one crosses an end of its range, or "
    "stand-in and real records disagree; a stand-in alone refutes nothing. <em>Fitted</em>: "
    "settings that the papers do not give were chosen so that the measure comes out; agreement is "
    "then calibration, not confirmation. Bands are the 25 to 75 % of the runs, bars two standard "
    "errors.</p>\n";

std::string table_of(std::string_view title, const std::string& rows) {
  if (rows.empty()) return "";
  return fmt::format(
      "<h2>{}</h2>\n<table><tr><th>item</th><th>what</th><th>verdict</th><th>fitted</th>"
      "<th>measured</th><th>ours, ± standard error</th><th>accepted</th></tr>\n{}</table>\n",
      title, rows);
}

}  // namespace

std::string page_of(const Reproduction& reproduction) {
  std::string papers, beyond, sections;
  for (const Figure& figure : reproduction.figures) {
    (figure.paper.empty() ? beyond : papers) += summary_rows(figure);
    sections += section(figure);
  }
  const std::string where =
      reproduction.data.empty()
          ? fmt::format(
                "on stand-ins, made of the papers' summary numbers and none of their "
                "records, {} draws of each",
                reproduction.draws)
          : "on files from " + escaped(reproduction.data) + " and on stand-ins";
  const std::string body = fmt::format(
      "<h1>The papers' figures, reproduced</h1>\n{}<p>Computed {}, by parley {}, seed {}{}. ψ is "
      "relative fitness, f(model)/f(best) − 1, on all records: small is good, and measuring it is "
      "<strong>NOT PRIVATE</strong>.</p>\n{}{}{}{}",
      kPapers, where, kVersion, reproduction.seed,
      reproduction.quick ? ", <strong>quick: small sizes and few runs, for tests only</strong>"
                         : "",
      kRules, table_of("The papers", papers), table_of("Beyond the papers", beyond), sections);
  return report::html_page("The papers' figures, reproduced", kStyle, body);
}

}  // namespace parley::reproduce
