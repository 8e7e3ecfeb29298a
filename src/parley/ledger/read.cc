#include "parley/ledger/read.h"

#include <algorithm>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "parley/ledger/storage/store.h"

namespace parley::ledger {
namespace {

/// Changes whenever a writer moved its log into the file.
struct Stamp {
  uintmax_t size = 0;
  std::filesystem::file_time_type written{};
  bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::filesystem::path& path) {
  std::error_code failed;
  return {std::filesystem::file_size(path, failed), std::filesystem::last_write_time(path, failed)};
}

/// A file without a log is read without locks (sqlite.h), so a writer may start and change it
/// meanwhile: then what was read counts for nothing, `forget` is called, and it is read again.
template <class Forget>
Result<Loaded> load_file(const std::filesystem::path& file, const Forget& forget,
                         const std::function<void(Row)>& each) {
  constexpr int kTries = 20;
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed || !std::filesystem::is_regular_file(path, failed))
    return Error{
        Code::kInvalid, "there is no such file", "Check the path.", {.file = file.string()}};
  for (int tries = 1;; ++tries) {
    forget();
    const Stamp before = stamp_of(path);
    auto loaded = [&]() -> Result<Loaded> {
      Connection db = TRY(Connection::read(path));
      return load(db, each);
    }();
    if (loaded || tries == kTries || stamp_of(path) == before) return loaded;
  }
}

}  // namespace

bool Contents::knows(const Hash& hash) const {
  return chain.restored(hash) != 0 ||
         std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.hash == hash; });
}

Result<Contents> read(const std::filesystem::path& file, const RowFilter& filter) {
  Contents contents;
  std::vector<Row>& rows = contents.rows;
  const auto keep_latest = [&] {
    rows.erase(rows.begin(),
               rows.end() - static_cast<ptrdiff_t>(std::min(rows.size(), filter.most)));
  };
  Loaded loaded = TRY(load_file(
      file, [&] { rows.clear(), contents.matched = 0; },
      [&](Row row) {
        if (!filter.wants(row)) return;
        ++contents.matched;
        rows.push_back(std::move(row));
        if (rows.size() / 2 >= filter.most) keep_latest();
      }));
  keep_latest();
  contents.owner = std::move(loaded.owner);
  contents.created = std::move(loaded.created);
  contents.datasets = loaded.chain.datasets();
  contents.head = loaded.chain.head();
  contents.chain = std::move(loaded.chain);
  contents.fingerprints = loaded.key;
  return contents;
}

Result<Exported> export_events(const std::filesystem::path& file, const std::string& dataset) {
  std::map<int64_t, Exported> all;
  std::map<std::pair<int64_t, std::string>, size_t> places;
  const auto forget = [&] { all.clear(), places.clear(); };
  const Loaded loaded = TRY(load_file(file, forget, [&](const Row& row) {
    if (row.track == "none") return;
    Exported& exported = all[row.dataset];
    auto& events = exported.events;
    const auto [place, is_new] = places.try_emplace({row.dataset, row.event}, events.size());
    if (is_new) events.emplace_back(row.event, 0);
    ++events[place->second].second;
    ++exported.charges;
  }));
  const std::vector<Dataset> known = loaded.chain.datasets();
  const auto chosen = std::find_if(known.begin(), known.end(), [&](const Dataset& each) {
    return dataset.empty() ? known.size() == 1 : each.name == dataset;
  });
  if (chosen == known.end())
    return Error{Code::kInvalid,
                 dataset.empty() ? "has " + std::to_string(known.size()) + " data sets"
                                 : "has no data set '" + dataset + "'",
                 "Choose one with --dataset NAME; `parley ledger show` lists them.",
                 {.file = file.string()}};
  Exported exported = std::move(all[chosen->id]);
  exported.owner = loaded.owner;
  exported.head = loaded.chain.head();
  exported.dataset = *chosen;
  return exported;
}

Result<Verified> verify(const std::filesystem::path& file) {
  int64_t checkpoints = 0;
  const Loaded loaded = TRY(load_file(
      file, [&] { checkpoints = 0; },
      [&](const Row& row) { checkpoints += row.event.starts_with("{\"checkpoint\""); }));
  return Verified{.owner = loaded.owner,
                  .rows = loaded.chain.size(),
                  .head = loaded.chain.head(),
                  .missing = loaded.chain.missing().size(),
                  .format = loaded.chain.format(),
                  .checkpoints = checkpoints};
}

}  // namespace parley::ledger
