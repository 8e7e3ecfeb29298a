#include "support/plan_text.h"

#include <cstdio>

namespace parley::test {

std::string short_hex(const Hash& hash) { return to_hex(hash).substr(0, 32); }

namespace plan_text {

std::string counted(size_t count, const std::string& text) {
  return std::to_string(count) + ", sha256 " + short_hex(sha256(as_bytes(text)));
}

}  // namespace plan_text

void PlanText::add(const std::string& key, std::string_view value) {
  check(find(key) == nullptr);  // A key that occurs twice could not be compared.
  lines_.push_back({key, std::string(value), false});
}

void PlanText::add(const std::string& key, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  add(key, text);
}

void PlanText::add(const std::string& key, std::span<const double> values) {
  constexpr size_t kWritten = 6;
  const bool whole = values.size() <= kWritten;
  TupleBytes bytes;
  std::string text = std::to_string(values.size()) + " numbers";
  for (size_t i = 0; i < values.size(); ++i) {
    char number[40];
    std::snprintf(number, sizeof number, " %a", values[i]);
    if (whole || i < 2) text += number;
    bytes.add(values[i]);
  }
  add(key, whole ? text : text + " ... sha256 " + short_hex(bytes.sha256()));
}

void PlanText::add(const std::string& key, const Error& error) {
  add(key, std::string(name_of(error.code)) + " | " + error.where.key + " | " + error.what + " | " +
               error.hint);
}

void PlanText::add(const std::string& prefix, const PlanText& part) {
  for (const Line& line : part.lines_) {
    add(prefix + "." + line.key, line.value);
    lines_.back().detail = line.detail;
  }
}

void PlanText::add_details(const std::string& prefix, const PlanText& part) {
  for (const Line& line : part.lines_) add_detail(prefix + "." + line.key, line.value);
}

void PlanText::add_owners(const std::vector<std::string>& names,
                          const std::vector<PlanText>& owners) {
  constexpr size_t kWritten = 5;
  std::string others;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (i == 0)
      add(names[i], owners[i]);
    else if (i < kWritten)
      add_details(names[i], owners[i].unlike(owners[0]));
    else
      others += names[i] + "\n" + owners[i].text();
  }
  if (!others.empty()) add("other owners", plan_text::counted(owners.size() - kWritten, others));
}

const std::string* PlanText::find(std::string_view key) const {
  for (const Line& line : lines_)
    if (line.key == key) return &line.value;
  return nullptr;
}

PlanText PlanText::unlike(const PlanText& base) const {
  PlanText found;
  for (const Line& line : lines_)
    if (const std::string* same = base.find(line.key); same == nullptr || *same != line.value)
      found.lines_.push_back(line);
  std::string gone;
  size_t count = 0;
  for (const Line& line : base.lines_)
    if (find(line.key) == nullptr) gone += line.key + "\n", ++count;
  if (count > 0) found.add("without", plan_text::counted(count, gone));
  return found;
}

PlanText PlanText::brief() const {
  PlanText found;
  std::string details;
  size_t count = 0;
  for (const Line& line : lines_) {
    if (line.detail)
      details += line.key + " = " + line.value + "\n", ++count;
    else
      found.lines_.push_back(line);
  }
  if (count > 0) found.add("details", plan_text::counted(count, details));
  return found;
}

std::string PlanText::text() const {
  std::string text;
  for (const Line& line : lines_)
    text += line.key + (line.value.empty() ? "" : " = " + line.value) + "\n";
  return text;
}

}  // namespace parley::test
