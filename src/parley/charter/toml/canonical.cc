#include "parley/charter/toml/canonical.h"

#include "parley/base/math/number.h"

namespace parley::charter {

std::string json_object(const std::map<std::string, std::string>& members) {
  std::string text;
  for (const auto& [key, json] : members)
    text += (text.empty() ? "" : ",") + to_json(key) + ":" + json;
  return "{" + text + "}";
}

std::string to_json(double number) { return shortest(number); }
std::string to_json(bool flag) { return flag ? "true" : "false"; }

std::string to_json(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (is_control(c)) {
      const auto code = static_cast<uint8_t>(c);
      json += "\\u00" + to_hex({&code, 1});
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string to_json(const std::filesystem::path& path) { return to_json(path.string()); }
std::string to_json(const Hash& hash) { return to_json(to_hex(hash)); }
std::string to_json(const SignKey& key) { return to_json(to_text(key)); }

std::string to_json(const std::vector<std::string>& texts) {
  std::string json;
  for (const std::string& text : texts) json += (json.empty() ? "" : ",") + to_json(text);
  return "[" + json + "]";
}

std::string to_json(const std::pair<double, double>& bounds) {
  return "[" + to_json(bounds.first) + "," + to_json(bounds.second) + "]";
}

std::string to_json(const std::array<double, 2>& numbers) {
  return to_json(std::pair(numbers[0], numbers[1]));
}

std::string to_json(const std::vector<std::array<std::string, 2>>& pairs) {
  std::string json;
  for (const auto& [first, second] : pairs)
    json += (json.empty() ? "[" : ",[") + to_json(first) + "," + to_json(second) + "]";
  return "[" + json + "]";
}

template <class T>
static std::string json_of(const std::map<std::string, T>& values) {
  std::map<std::string, std::string> members;
  for (const auto& [key, value] : values) members[key] = to_json(value);
  return json_object(members);
}

std::string to_json(const std::map<std::string, std::string>& texts) { return json_of(texts); }

std::string to_json(const Addresses& addresses) {
  return addresses.all.size() > 1 ? to_json(addresses.all) : to_json(addresses.first());
}

std::string to_json(const std::map<std::string, Addresses>& addresses) {
  return json_of(addresses);
}

}  // namespace parley::charter
