#include "parley/base/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

namespace parley {
namespace {

constexpr size_t kQuoted = 60;

/// A character of UTF-8, and how many bytes it has.
struct Character {
  char32_t code = 0;
  size_t size = 1;
};

/// The first of the text; nothing if that is not UTF-8 (RFC 3629).
std::optional<Character> first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Character{lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return std::nullopt;
  char32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return std::nullopt;
  return Character{code, size};
}

/// Controls, and what changes how the characters around it are shown.
bool is_hidden(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kHidden[] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
      {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};
  for (const auto& [first, last] : kHidden)
    if (code >= first && code <= last) return true;
  return false;
}

std::string escape(const char* format, uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string escaped(std::string_view text, std::string_view more) {
  std::string result;
  while (!text.empty()) {
    const auto next = first_of(text);
    const size_t size = next ? next->size : 1;
    if (!next)
      result += escape("\\x%02x", static_cast<unsigned char>(text[0]));
    else if (is_hidden(next->code))
      result += escape("\\u%04x", static_cast<uint32_t>(next->code));
    else
      result += (more.find(text[0]) == more.npos ? "" : "\\") + std::string(text.substr(0, size));
    text.remove_prefix(size);
  }
  return result;
}

/// Not inside a character.
std::string_view cut(std::string_view text, size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && (text[longest] & 0xc0) == 0x80) --longest;
  return text.substr(0, longest);
}

}  // namespace

std::string printable(std::string_view text, size_t longest) {
  return escaped(cut(text, longest), "");
}

std::string in_quotes(std::string_view text) {
  const std::string_view shown = cut(text, kQuoted);
  return "\"" + escaped(shown, "\"\\") + (shown.size() < text.size() ? "...\"" : "\"");
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (;;) {
    const size_t end = text.find('\n');
    result += escaped(text.substr(0, end), "");
    if (end == text.npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace parley
