// Where somebody listens: one address, or several that lead to the same party.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace parley::charter {

/// Each host:port. They are tried in turn.
struct Addresses {
  Addresses() = default;
  Addresses(std::string one) {  // NOLINT: one is the usual case. Empty: none.
    if (!one.empty()) all.push_back(std::move(one));
  }
  Addresses(const char* one) : Addresses(std::string(one)) {}  // NOLINT

  bool empty() const { return all.empty(); }
  /// Empty, if there is none.
  std::string first() const { return all.empty() ? "" : all.front(); }
  bool operator==(const Addresses&) const = default;

  std::vector<std::string> all{};
};

/// "a.example:1, b.example:2".
inline std::string to_text(const Addresses& addresses) {
  std::string text;
  for (const std::string& each : addresses.all) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace parley::charter
