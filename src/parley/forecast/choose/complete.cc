#include "parley/forecast/choose/complete.h"

#include <vector>

#include "parley/base/math/number.h"

namespace parley::forecast {
namespace {

struct Key {
  std::string section, name;
};

Key split(std::string_view key) {
  const size_t dot = key.starts_with("owner.") ? key.rfind('.') : key.find('.');
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

std::string trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(line.substr(first));
}

/// The line of the section's header, or of the last line; of "owner.2" that of the third block.
size_t header(const std::vector<std::string>& lines, const std::string& section) {
  const bool owner = section.starts_with("owner.");
  auto left = owner ? parse_number(section.substr(6)).value_or(0) : 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (trimmed(lines[i]).starts_with(owner ? "[[owner]]" : "[" + section + "]") && left-- == 0)
      return i;
  return lines.size();
}

/// The line that gives the key in its section; none: the number of lines.
size_t line_of(const std::vector<std::string>& lines, const Key& key) {
  for (size_t i = header(lines, key.section) + 1; i < lines.size(); ++i) {
    const std::string line = trimmed(lines[i]);
    if (line.starts_with("[")) break;
    if (!line.starts_with(key.name)) continue;
    const std::string rest = trimmed(std::string_view(line).substr(key.name.size()));
    if (rest.starts_with("=")) return i;
  }
  return lines.size();
}

/// Words need quotes, numbers and the rest do not.
std::string as_toml(const std::string& value) {
  const bool plain = parse_number(value) || value == "true" || value == "false" ||
                     value.starts_with("\"") || value.starts_with("[");
  return plain ? value : "\"" + value + "\"";
}

void put(std::vector<std::string>& lines, const std::string& key, const std::string& value,
         const std::string& why) {
  const Key where = split(key);
  const std::string line =
      where.name + " = " + as_toml(value) + (why.empty() ? "" : "  # forecast: " + why);
  if (const size_t at = line_of(lines, where); at < lines.size()) return void(lines[at] = line);
  size_t at = header(lines, where.section);
  if (at == lines.size() && where.section.starts_with("owner.")) return;  // of a table of owners
  if (at == lines.size()) lines.push_back("[" + where.section + "]"), at = lines.size() - 1;
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at) + 1, line);
}

/// What `parley init` says of keys that are open, in sections where some were chosen since.
void drop_open_marks(std::vector<std::string>& lines, std::span<const Choice> choices) {
  for (const Choice& choice : choices) {
    const size_t first = header(lines, split(choice.key).section) + 1;
    for (size_t i = first; i < lines.size() && !trimmed(lines[i]).starts_with("[");)
      if (trimmed(lines[i]).starts_with("# OPEN:"))
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
  }
}

}  // namespace

Result<bool> is_given(std::string_view toml, std::span<const charter::Override> changes,
                      std::string_view key) {
  for (const charter::Override& change : changes)
    if (change.key == key) return true;
  const charter::Value document = TRY(charter::parse_toml(toml, ""));
  const Key where = split(key);
  const auto& sections = *document.get<charter::Value::Members>();
  const auto section = sections.find(where.section);
  if (section == sections.end()) return false;
  const auto* members = section->second.get<charter::Value::Members>();
  return members != nullptr && members->contains(where.name);
}

std::string completed(std::string_view toml, std::span<const charter::Override> changes,
                      std::span<const Choice> choices) {
  std::vector<std::string> lines = lines_of(toml);
  for (const charter::Override& change : changes) put(lines, change.key, change.value, "");
  for (const Choice& choice : choices) put(lines, choice.key, choice.value, choice.why);
  drop_open_marks(lines, choices);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<charter::Override> of_owners(std::span<const charter::Override> changes) {
  std::vector<charter::Override> found;
  for (const charter::Override& change : changes)
    if (change.key.starts_with("owner.")) found.push_back(change);
  return found;
}

}  // namespace parley::forecast
