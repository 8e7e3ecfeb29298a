#include "parley/report/console/console.h"

#include <fmt/format.h>

#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/report/console/frame.h"
#include "parley/report/page/html.h"
#include "parley/report/page/web.h"

namespace parley::report {
namespace {

std::string unit_of(Track track) { return track == Track::kPure ? "ε" : "ρ"; }

std::string warnings(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all)
    text += fmt::format("<p class=warn role=alert>{}</p>\n", escaped(each));
  return text;
}

/// Of a job under way: how much went to and fro, and how long it takes yet.
std::string pace(const ConsoleCharter& charter) {
  if (!charter.job || !charter.job->runs()) return " No daemon goes on with it now.";
  const DaemonJob& job = *charter.job;
  const uint64_t to_come = charter.preflight.answers - charter.preflight.answered;
  std::string text = job.received + job.sent == 0 || charter.preflight.answered == 0
                         ? " Nothing was asked since the daemon began."
                         : fmt::format(" {} came and {} went since the daemon began.",
                                       bytes_text(job.received), bytes_text(job.sent));
  if (job.seconds_per_answer)
    text += fmt::format(" About {} are left at this pace.",
                        duration_text(*job.seconds_per_answer * static_cast<double>(to_come)));
  return text;
}

/// One sentence on where it stands, or a few.
std::string standing(const ConsoleCharter& charter) {
  const Preflight& p = charter.preflight;
  if (p.answers > 0 && p.answered >= p.answers) return "All answers were given.";
  if (charter.under_way())
    return fmt::format("{} of {} answers were given, one in each round.", grouped(p.answered),
                       grouped(p.answers)) +
           pace(charter);
  if (charter.waits()) return "It waits for a person.";
  if (!charter.word.empty() && p.runs()) return "It may run: " + charter.word + ".";
  if (p.runs()) return "It may run.";
  return "It does not run: " + p.obstacles.front().what + ".";
}

std::string progress(const ConsoleCharter& charter) {
  if (!charter.under_way() || charter.preflight.answers == 0) return "";
  return fmt::format("<progress max={} value={} aria-label=\"answers given\"></progress>",
                     charter.preflight.answers, charter.preflight.answered);
}

/// What the daemon could not go on with.
std::string ended(const ConsoleCharter& charter) {
  if (!charter.job || charter.job->state != "ended early") return "";
  return "<p class=warn>The daemon has given it up: " + escaped(charter.job->reason) + ".</p>";
}

std::string card(const ConsoleCharter& charter) {
  if (!charter.problem.empty())
    return fmt::format("<section class=card><h3>{}</h3><p class=warn>{}</p></section>\n",
                       escaped(charter.file), escaped(charter.problem));
  return fmt::format("<section class=card><h3>{}</h3><p>{}</p><p>{}</p>{}{}</section>\n",
                     link_to(charter), escaped(charter.purpose), escaped(standing(charter)),
                     progress(charter), ended(charter));
}

template <class Which>
std::string cards(const Console& console, const char* title, const char* none, Which which) {
  std::string text;
  for (const ConsoleCharter& each : console.charters)
    if (which(each)) text += card(each);
  return fmt::format("<h2>{}</h2>\n", title) +
         (text.empty() ? fmt::format("<p class=quiet>{}</p>\n", none) : text);
}

/// Who asks for what, as questions of somebody who has to answer for it.
std::string facts(const ConsoleCharter& charter) {
  const Preflight& p = charter.preflight;
  const std::string unit = unit_of(p.track);
  const std::vector<std::pair<std::string, std::string>> all = {
      {"Who asks", p.learner + (p.address.empty() ? "" : ", at " + p.address)},
      {"What for", charter.purpose},
      {"What leaves", fmt::format("{} noisy numbers about {} rows of data set {}, {} times; {} "
                                  "answers were given already",
                                  grouped(p.numbers), grouped(p.rows), p.dataset,
                                  grouped(p.answers), grouped(p.answered))},
      {"What it costs", fmt::format("{} {} in all; {} {} are left now, {} {} when all is paid",
                                    significant(p.price, 4), unit, significant(p.left, 4), unit,
                                    significant(p.left_after, 4), unit)},
      {"What that means", fmt::format("ε = {} for this job. ", significant(charter.epsilon, 4)) +
                              in_words(charter.epsilon, charter.delta)},
      {"What was said", charter.word.empty() ? "nothing yet" : charter.word}};
  std::string text = "<dl>\n";
  for (const auto& [question, answer] : all)
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", question, escaped(answer));
  return text + "</dl>\n" + (p.noise.empty() ? "" : "<p class=warn>" + escaped(p.noise) + "</p>\n");
}

/// What stands in the way, but for the word that the page itself asks for.
std::string obstacles(const ConsoleCharter& charter) {
  std::string text;
  for (const Error& each : charter.preflight.obstacles)
    if (!charter.waits() || each.code != Code::kPolicy)
      text +=
          fmt::format("<p class=warn>{}. {}</p>\n", escaped(describe(each)), escaped(each.hint));
  return text;
}

std::string decision(const Console& console, const ConsoleCharter& charter, const char* what,
                     const char* label, const char* style, bool reason) {
  return fmt::format(
      "<form method=post action=\"/decide\">{}<input type=hidden name=id value=\"{}\"><input "
      "type=hidden name=seen value=\"{}\"><input type=hidden name=what value={}><label>{}, "
      "for the ledger, with your name<input name=reason maxlength=300{}></label><p "
      "class=act><button class={}>{}</button></p></form>\n",
      token_field(console.token), charter.id, escaped(charter.word), what,
      reason ? "Why not" : "Why, if you like", reason ? " required" : "", style, label);
}

std::string decisions(const Console& console, const ConsoleCharter& charter) {
  if (charter.preflight.rule == 0) return "";  // The policy has nothing to do with it.
  std::string text =
      fmt::format("<section class=card><h2>Your word, {}</h2>\n", escaped(console.person));
  const bool may = charter.word.empty() ? !charter.preflight.person : charter.preflight.approved;
  if (!may) text += decision(console, charter, "approve", "Approve", "yes", false);
  if (charter.word.empty()) text += decision(console, charter, "refuse", "Refuse", "stop", true);
  if (may) text += decision(console, charter, "withdraw", "Stop: no further answer", "stop", true);
  return text + "</section>\n";
}

}  // namespace

std::string overview_live(const Console& console) {
  return warnings(console.warnings) + "<p class=quiet>" + escaped(console.daemon) + "</p>\n" +
         cards(console, "Waiting for a person", "Nothing waits.",
               [](const ConsoleCharter& c) { return c.waits(); }) +
         cards(console, "Under way", "No job has begun and not ended.",
               [](const ConsoleCharter& c) { return c.under_way(); }) +
         budgets(console) +
         cards(console, "Other charters", "There are none in the policy's folder.",
               [](const ConsoleCharter& c) { return !c.waits() && !c.under_way(); });
}

std::string overview_page(const Console& console) {
  return console_frame(console, "overview",
                       fmt::format("<h1>{}</h1>\n<div data-live=\"/live\">{}</div>\n",
                                   escaped(console.owner), overview_live(console)));
}

std::string charter_live(const ConsoleCharter& charter) {
  return "<p>" + escaped(standing(charter)) + "</p>\n" + progress(charter) + ended(charter);
}

std::string charter_page(const Console& console, const ConsoleCharter& charter,
                         const std::string& sentences, const Answers& forecast) {
  std::string worth = "<h2>What it would be worth</h2>\n<dl>\n";
  for (const auto& [question, answer] : forecast)
    worth += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(question), escaped(answer));
  worth += fmt::format(
      "</dl>\n<p><a href=\"/value?id={}\">What it would bring on our own rows</a>: reads our "
      "records, for our eyes only, and may take a while.</p>\n",
      charter.id);
  return console_frame(
      console, charter.preflight.name,
      fmt::format("<h1>{}</h1>\n<div data-live=\"/standing?id={}\">{}</div>\n{}{}{}{}<h2>In "
                  "sentences</h2>\n<pre>{}</pre>\n<p class=quiet>Charter <span "
                  "class=hash>{}</span></p>\n",
                  escaped(charter.preflight.name), charter.id, charter_live(charter),
                  facts(charter), obstacles(charter), worth, decisions(console, charter),
                  escaped(sentences), charter.id));
}

std::string value_page(const Console& console, const ConsoleCharter& charter) {
  return console_frame(
      console, "on our own rows",
      fmt::format("<h1>{} on our own rows</h1>\n<p class=warn>Made of exact "
                  "records: for our eyes only.</p>\n<div data-live=\"/figures?id={}\" data-once "
                  "aria-live=polite><p>Our records are being read, which may take a "
                  "while.</p><noscript><a href=\"/figures?id={}\">Show the "
                  "figures</a></noscript></div>\n<p>Back to {}</p>\n",
                  escaped(charter.preflight.name), charter.id, charter.id, link_to(charter)));
}

std::string value_figures(const std::string& text) {
  return "<pre class=columns tabindex=0 role=region aria-label=figures>" + escaped(text) +
         "</pre>\n";
}

std::string value_figures(const Error& error) {
  return fmt::format("<p class=warn role=alert>No figures: {}. {}</p>\n", escaped(describe(error)),
                     escaped(error.hint));
}

std::string policy_page(const Console& console, const std::string& sentences) {
  return console_frame(
      console, "policy",
      fmt::format("<h1>The policy</h1>\n<pre>{}</pre>\n<p class=quiet>It is changed "
                  "in its file, not here.</p>\n",
                  escaped(sentences)));
}

std::string problem_page(const Console& console, const std::string& title,
                         const std::string& sentence) {
  return console_frame(console, title,
                       fmt::format("<h1>{}</h1>\n<p class=warn role=alert>{}</p>\n<p><a "
                                   "href=\"/\">Back to the overview</a></p>\n",
                                   escaped(title), escaped(sentence)));
}

}  // namespace parley::report
