#include "parley/report/data/draft.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string count(size_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

/// "id, url: unique values; desc: more than 50 levels".
std::string reasons(const std::vector<charter::Draft::LeftOut>& left_out) {
  std::map<std::string, std::string> columns;
  for (const auto& [column, reason] : left_out)
    columns[reason] += (columns[reason].empty() ? "" : ", ") + column;
  std::string text;
  for (const auto& [reason, names] : columns)
    text += (text.empty() ? "" : "; ") + names + ": " + reason;
  return text;
}

}  // namespace

std::string to_note(const Drafted& drafted) {
  const charter::Draft& draft = drafted.draft;
  std::string text = count(draft.kept.size(), "column") + " kept, " +
                     std::to_string(draft.left_out.size()) + " left out";
  if (!draft.left_out.empty()) text += " (" + reasons(draft.left_out) + ")";
  text += ". " + count(draft.confirm, "place") + " need your eye, marked CONFIRM.\n";
  if (!drafted.has_pilot)
    text +=
        "Without --pilot every kind and bound is a placeholder: private rows were counted, not "
        "looked at.\nWith kinds and bounds confirmed, `parley charter explain` says how much noise "
        "a "
        "job without public\nrows would have; or owners pay for a pilot: `parley data prepare "
        "CHARTER "
        "--paid EPSILON`, as the draft says.\n";
  for (const std::string& file : drafted.files) text += "Written: " + file + "\n";
  return text;
}

std::string to_json(const Drafted& drafted) {
  const charter::Draft& draft = drafted.draft;
  Json json = {{"format", "parley.init/1"}, {"parley", provenance()},   {"kept", draft.kept},
               {"left_out", Json::array()}, {"confirm", draft.confirm}, {"files", drafted.files},
               {"charter", draft.charter}};
  for (const auto& [column, reason] : draft.left_out)
    json["left_out"].push_back({{"column", column}, {"reason", reason}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
