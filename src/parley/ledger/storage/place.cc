#include "parley/ledger/storage/place.h"

#include <algorithm>
#include <set>

namespace parley::ledger {
namespace {

enum class Reach { kFile, kServer, kAnything };

struct Place {
  std::string kind, at;  // "sqlite", "/data/a.db"
  Reach reach = Reach::kFile;
  std::optional<std::set<std::string>> tables{};  // if they could be read
};

std::optional<std::set<std::string>> tables_from(std::string_view list) {
  std::set<std::string> tables;
  const auto in_name = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || c == '_' || c == '.' ||
           byte >= 0x80;
  };
  while (true) {
    const size_t end = std::min(list.find(", "), list.size());
    const std::string_view name = list.substr(0, end);
    if (name.empty() || !std::all_of(name.begin(), name.end(), in_name)) return std::nullopt;
    tables.emplace(name);
    if (end == list.size()) return tables;
    list.remove_prefix(end + 2);
  }
}

/// A database ends with the first colon and blank: a query may have some, and so may a path, which
/// then counts as a shorter one.
Place place_of(const std::string& is) {
  const size_t blank = std::min(is.find(' '), is.size());
  Place place{.kind = is.substr(0, blank), .at = is.substr(std::min(blank + 1, is.size()))};
  if (place.kind == "postgres") place.reach = Reach::kServer;
  if (place.kind == "adbc" || place.kind == "command") place.reach = Reach::kAnything;
  const size_t end = place.at.find(": ");
  if ((place.reach == Reach::kFile && place.kind != "sqlite") || end == std::string::npos)
    return place;
  place.tables = tables_from(std::string_view(place.at).substr(end + 2));
  place.at.resize(end);
  return place;
}

/// A path, up to the folder in which a pattern begins; then all below may be meant.
struct Files {
  std::string path;
  bool below = false;
  bool hold(const Files& other) const {
    return below ? other.path.starts_with(path) : path == other.path;
  }
};
Files files_of(const Place& place) {
  const size_t pattern = place.at.find_first_of("*?[");
  if (place.kind != "parquet" || pattern == std::string::npos) return {place.at};
  return {place.at.substr(0, place.at.rfind('/', pattern) + 1), true};
}

}  // namespace

bool may_share_records(const SourceOf& one, const SourceOf& other) {
  const Place a = place_of(one.is), b = place_of(other.is);
  if (a.reach == Reach::kAnything || b.reach == Reach::kAnything) return true;
  if (a.reach != b.reach) return false;
  if (a.reach == Reach::kServer) return true;
  return files_of(a).hold(files_of(b)) || files_of(b).hold(files_of(a));
}

bool reads_no_more(const SourceOf& source, const SourceOf& known) {
  if (source.is == known.is) return true;
  const Place some = place_of(source.is), all = place_of(known.is);
  return some.kind == all.kind && some.at == all.at && some.tables && all.tables &&
         std::includes(all.tables->begin(), all.tables->end(), some.tables->begin(),
                       some.tables->end());
}

}  // namespace parley::ledger
