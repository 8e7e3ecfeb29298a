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
  const std::string_view kind = verdict == Verdict::kNotReproduced ? "not" : name_of(verdict);
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
                        escaped(promised(measure)));
  }
  if (count == 0) rows = "<td colspan=\"3\">nothing could be measured</td></tr>\n", count = 1;
  const std::string span = fmt::format("rowspan=\"{}\"", count);
  return fmt::format(
      "<tr><td class=\"n\" {4}><a href=\"#{0}\">{0}</a></td><td {4}>{1}</td><td {4}>{2}</td>"
      "<td {4}>{3}</td>{5}",
      escaped(figure.id), with_subscripts(figure.title), badge(verdict_of(figure)),
      fitted_words(fitted_to_claim(figure)), span, rows);
}

std::string measure_row(const Measure& measure) {
  return fmt::format(
      "<tr{}><td>{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
      measure.decides ? "" : " class=\"beside\"", with_subscripts(measure.quantity),
      escaped(with_error(measure)), escaped(promised(measure)), fitted_words(measure.fitted),
      measure.decides ? badge(verdict_of(measure)) : "told beside");
}

std::string measures_of(const Figure& figure) {
  std::string rows;
  for (const Measure& measure : figure.measures) rows += measure_row(measure);
  if (rows.empty()) return "";
  return "<table><tr><th>measured</th><th>ours, ± standard error</th><th>the paper's</th>"
         "<th>fitted</th><th>verdict</th></tr>\n" +
         rows + "</table>\n";
}

std::string settings_of(const Figure& figure) {
  std::string text = fmt::format("Data: {}. Seed {}, {} runs. ", escaped(figure.data), figure.seed,
                                 grouped(figure.runs));
  for (const Setting& setting : figure.settings)
    text += escaped(setting.name) + ": " + with_subscripts(setting.value) + ". ";
  return "<details open><summary>Settings</summary>" + text +
         fmt::format("{:.1f} s.</details>\n", figure.seconds);
}

std::string section(const Figure& figure) {
  std::string text = fmt::format(
      "<section id=\"{}\">\n<h2>{} · {}, {}: {} {}</h2>\n<blockquote>{}</blockquote>\n",
      escaped(figure.id), escaped(figure.id), escaped(figure.paper), escaped(figure.item),
      with_subscripts(figure.title), badge(verdict_of(figure)), with_subscripts(figure.claim));
  text += svg_of(figure) + measures_of(figure);
  if (!figure.note.empty()) text += "<p class=\"note\">" + with_subscripts(figure.note) + "</p>\n";
  return text + settings_of(figure) + "</section>\n";
}

}  // namespace

std::string page_of(const Reproduction& reproduction) {
  std::string rows, sections;
  for (const Figure& figure : reproduction.figures) {
    rows += summary_rows(figure);
    sections += section(figure);
  }
  const std::string where =
      reproduction.data.empty()
          ? "on stand-ins, which have the published statistics of the papers' data and none of its "
            "records"
          : "on files from " + escaped(reproduction.data);
  const std::string body = fmt::format(
      "<h1>The papers' figures, reproduced</h1>\n"
      "<p>Wu, Farokhi, Smith, Kaafar, “The Value of Collaboration in Convex Machine Learning with "
      "Differential Privacy”, and Farokhi, Wu, Smith, Kaafar, “The Cost of Privacy in Asynchronous "
      "Differentially-Private Machine Learning”, {}, by parley {}, seed {}{}. ψ is relative "
      "fitness, "
      "f(model)/f(best) − 1, on all records: small is good, and measuring it is <strong>NOT "
      "PRIVATE</strong>.</p>\n"
      "<p>A verdict follows from the numbers. <em>Reproduced</em>: every deciding measure lies "
      "where "
      "the claim says. <em>Refuted</em>: one lies outside by more than three standard errors. "
      "<em>Not reproduced</em>: outside, but by no more than that, or it could not be measured. "
      "<em>Fitted</em>: settings that the papers do not give were chosen so that the measure comes "
      "out; agreement is then calibration, not confirmation. Bands are the 25 to 75 % of the runs, "
      "bars two standard errors.</p>\n"
      "<table><tr><th>figure</th><th>what</th><th>verdict</th><th>fitted</th><th>measured</"
      "th><th>ours, ± standard "
      "error</th><th>the paper's</th></tr>\n{}</table>\n{}",
      where, kVersion, reproduction.seed,
      reproduction.quick ? ", <strong>quick: small sizes and few runs, for tests only</strong>"
                         : "",
      rows, sections);
  return report::html_page("The papers' figures, reproduced", kStyle, body);
}

}  // namespace parley::reproduce
