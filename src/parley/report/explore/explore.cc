#include "parley/report/explore/explore.h"

#include <fmt/format.h>

#include <array>

#include "parley/report/page/html.h"
#include "parley/report/page/web.h"

namespace parley::report {
namespace {

/// A number; the script puts a slider beside it, with powers of ten along it.
std::string number(const std::string& name, const std::string& value, const std::string& label) {
  return fmt::format("<span class=pair><input name={} value=\"{}\" aria-label=\"{}\"></span>", name,
                     escaped(value), escaped(label));
}

std::string owner_row(size_t i, const Explored::Owner& owner) {
  const std::string k = std::to_string(i);
  return fmt::format(
      "<tr><th scope=row>{}</th><td>{}</td><td>{}</td><td><input type=checkbox name=o{} "
      "value=1{} aria-label=\"leave out {}\"></td></tr>\n",
      escaped(owner.name), number("e" + k, owner.epsilon, "epsilon of " + owner.name),
      number("n" + k, owner.rows, "rows of " + owner.name), k, owner.out ? " checked" : "",
      escaped(owner.name));
}

std::string owners_table(const Explored& state) {
  std::string text =
      "<div class=owners tabindex=0 role=region aria-label=\"owners\"><table>\n<tr><th>owner</th>"
      "<th>epsilon</th><th>rows</th><th>out</th></tr>\n";
  for (size_t i = 0; i < state.owners.size(); ++i) text += owner_row(i, state.owners[i]);
  return text + "</table></div>\n";
}

template <size_t N>
std::string choice(std::string_view name, std::string_view label, const std::string& chosen,
                   const std::array<std::string_view, N>& words) {
  std::string text = fmt::format("<label>{}<select name={}>", label, name);
  for (const std::string_view word : words)
    text +=
        fmt::format("<option value=\"{}\"{}>{}</option>", word, word == chosen ? " selected" : "",
                    word.empty() ? std::string_view("as in the charter") : word);
  return text + "</select></label>\n";
}

/// A number that may be left out; the slider's ends are powers of ten.
std::string field(std::string_view name, std::string_view label, const std::string& value,
                  std::string_view without, std::string_view ends) {
  return fmt::format(
      "<label>{}<span class=pair><input name={} value=\"{}\" inputmode=decimal placeholder=\"{}\" "
      "aria-label=\"{}\" data-ends=\"{}\"></span></label>\n",
      label, name, escaped(value), without, label, ends);
}

std::string form(const Explored& state) {
  return "<form id=state method=get action=\"/\">\n<h2>What if</h2>\n"
         "<label>Epsilon of everyone" +
         number("all", state.all, "epsilon of everyone") +
         "</label>\n<p class=quiet>Leave it empty to give each owner its own below.</p>\n" +
         owners_table(state) +
         choice("protocol", "Protocol", state.protocol,
                std::array<std::string_view, 4>{"", "sync", "async", "federated"}) +
         choice("mechanism", "Noise", state.mechanism,
                std::array<std::string_view, 4>{"", "laplace", "gaussian", "skellam"}) +
         field("delta", "Delta, where the noise needs one", state.delta, "1e-6", "-9 -3") +
         field("differ", "How far owners differ", state.differ, "as public rows say", "-4 0") +
         field("worth", "Least gain that counts", state.worth, "usual", "-4 -1") +
         "<p class=act><button>Forecast</button> <a href=\"/\">as the charter "
         "is</a></p>\n</form>\n";
}

std::string train_form(const std::string& query, std::string_view token) {
  if (token.empty()) return "";
  return fmt::format(
      "<form method=post action=\"/train\" class=act>{}<input type=hidden name=state "
      "value=\"{}\"><button>Train with these</button> <span class=quiet>In this process, on the "
      "demo's rows; nothing is sent anywhere.</span></form>\n",
      token_field(token), query);
}

}  // namespace

std::string query_of(const Explored& state) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : "&") + name + "=" + url_escaped(value);
  };
  for (size_t i = 0; i < state.owners.size(); ++i) {
    const std::string k = std::to_string(i);
    add("e" + k, state.owners[i].epsilon);
    add("n" + k, state.owners[i].rows);
    add("o" + k, state.owners[i].out ? "1" : "");
  }
  for (const auto& [name, value] :
       {std::pair("all", state.all), std::pair("protocol", state.protocol),
        std::pair("mechanism", state.mechanism), std::pair("delta", state.delta),
        std::pair("differ", state.differ), std::pair("worth", state.worth)})
    add(name, value);
  return text;
}

std::string explore_page(const Explored& state, std::string_view person_token,
                         std::string_view result) {
  return web_page(state.charter + ": explore", person_token,
                  fmt::format("<div class=explorer>\n<aside>{}</aside>\n<section id=result "
                              "aria-live=polite aria-label=forecast>\n{}</section>\n</div>\n",
                              form(state), result));
}

std::string explored(const Explored& state, const Forecast& forecast,
                     std::string_view train_token) {
  const std::string query = escaped(query_of(state));
  return fmt::format(
      "{}<p class=act><a class=button href=\"/charter.toml?{}\" download>Write this charter</a> <a "
      "href=\"/sentences?{}\">What would be agreed, in sentences</a> <a "
      "href=\"/forecast.json?{}\">The numbers as JSON</a> <span class=quiet>The address of this "
      "page holds the whole state.</span></p>\n{}",
      train_form(query, train_token), query, query, query, to_fragment(forecast));
}

std::string sentences_page(const Explored& state, std::string_view person_token,
                           const std::string& sentences) {
  return web_page(state.charter + ": what would be agreed", person_token,
                  fmt::format("<h1>What would be agreed</h1>\n<pre>{}</pre>\n<p><a "
                              "href=\"/?{}\">Back to the forecast</a></p>\n",
                              escaped(sentences), escaped(query_of(state))));
}

std::string explored(const Error& error) {
  return fmt::format("<h1>This cannot be forecast</h1>\n<p class=warn role=alert>{}. {}</p>\n",
                     escaped(describe(error)), escaped(error.hint));
}

}  // namespace parley::report
