#include "parley/net/web/http.h"

#include <algorithm>

namespace parley::net {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return std::nullopt;
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    plain += static_cast<char>(16 * high + low);
    i += 2;
  }
  return plain;
}

}  // namespace

std::optional<std::string> Fields::get(std::string_view name) const {
  for (const auto& [key, value] : all_)
    if (key == name) return value;
  return std::nullopt;
}

size_t Fields::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(),
                                           [&](const auto& each) { return each.first == name; }));
}

std::optional<Fields> parse_form(std::string_view body, size_t most) {
  Fields fields;
  while (!body.empty()) {
    const std::string_view part = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(part.size() + 1, body.size()));
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    auto name = unescaped(part.substr(0, equals));
    auto value = unescaped(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value || fields.all().size() == most) return std::nullopt;
    fields.add(*std::move(name), *std::move(value));
  }
  return fields;
}

HttpResponse see_other(const std::string& path) {
  return {.status = 303, .headers = {{"Location", path}}};
}

}  // namespace parley::net
