#include "parley/net/control/open_metrics.h"

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/base/result.h"

namespace parley::net {
namespace {

/// Of a help text, or of a label's value, in which quotes are escaped, too.
std::string escaped(std::string_view text, bool quoted) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\\' || (c == '"' && quoted))
      result += {'\\', c};
    else
      result += c;
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return shortest(value);
}

bool is_name(std::string_view name) {
  constexpr std::string_view kStart = "abcdefghijklmnopqrstuvwxyz_";
  return !name.empty() && kStart.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

const char* word_of(OpenMetrics::Kind kind) {
  constexpr const char* kWords[] = {"gauge", "counter", "histogram"};
  return kWords[static_cast<int>(kind)];
}

}  // namespace

void OpenMetrics::family(Kind kind, std::string_view name, std::string_view help) {
  check(is_name(name) && !name.ends_with("_total"));
  kind_ = kind, name_ = name;
  const bool older = form_ == Form::kPrometheus;
  const std::string announced = name_ + (older && kind == Kind::kCounter ? "_total" : "");
  text_ += "# HELP " + announced + " " + escaped(help, !older) + "\n";
  text_ += "# TYPE " + announced + " " + word_of(kind) + "\n";
}

void OpenMetrics::sample(const Labels& labels, double value) {
  check(kind_ != Kind::kHistogram);
  line(kind_ == Kind::kCounter ? "_total" : "", labels, value);
}

void OpenMetrics::buckets(const Labels& labels, const std::vector<double>& limits,
                          const std::vector<double>& counts) {
  check(kind_ == Kind::kHistogram && counts.size() == limits.size() + 1);
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    Labels with = labels;
    with.emplace_back("le", i < limits.size() ? number(limits[i]) : "+Inf");
    line("_bucket", with, sum += counts[i]);
  }
}

void OpenMetrics::line(std::string_view suffix, const Labels& labels, double value) {
  std::string inside;
  for (const auto& [name, text] : labels) {
    check(is_name(name));
    inside += (inside.empty() ? "" : ",") + std::string(name) + "=\"" + escaped(text, true) + "\"";
  }
  text_ += name_ + std::string(suffix) + (inside.empty() ? "" : "{" + inside + "}") + " " +
           number(value) + "\n";
}

std::string OpenMetrics::text() && {
  if (form_ == Form::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

const char* OpenMetrics::type(Form form) {
  return form == Form::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                    : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace parley::net
