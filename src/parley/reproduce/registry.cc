#include "parley/reproduce/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/version.h"
#include "parley/reproduce/data/files.h"
#include "parley/reproduce/figures.h"

namespace parley::reproduce {
namespace {

constexpr Entry kEntries[] = {
    {"A-F3", "who communicates when, three banks", "", async_timing_lending},
    {"A-F9", "who communicates when, 86 hospitals", "", async_timing_hospital},
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

Result<std::vector<const Entry*>> chosen(const std::vector<std::string>& ids, const Study& study) {
  for (const std::string& id : ids)
    if (std::ranges::none_of(kEntries, [&](const Entry& entry) { return entry.id == id; }))
      return Error{Code::kInvalid, "there is no figure or claim '" + id + "'",
                   "parley reproduce --list names them."};
  std::vector<const Entry*> result;
  for (const Entry& entry : kEntries) {
    if (!ids.empty() && std::ranges::count(ids, entry.id) == 0) continue;
    if (!study.data.empty() && !entry.data.empty()) TRY(find_file(study.data, entry.data));
    result.push_back(&entry);
  }
  return result;
}

std::string list_text() {
  std::string text;
  for (const Entry& entry : kEntries)
    text += fmt::format("{:<10} {:<9} {}\n", entry.id, entry.data, entry.what);
  return text + "\nS: Wu et al., synchronous. A: Farokhi et al., asynchronous.\n";
}

std::string list_json() {
  nlohmann::ordered_json json = {{"format", "parley.reproduce.list/1"}, {"parley", kVersion}};
  for (const Entry& entry : kEntries)
    json["figures"].push_back({{"id", entry.id}, {"what", entry.what}, {"data", entry.data}});
  return json.dump(2) + "\n";
}

}  // namespace parley::reproduce
