#include "parley/ledger/read.h"

#include <functional>
#include <system_error>
#include <utility>

#include "parley/ledger/store.h"

namespace parley::ledger {
namespace {

Result<Loaded> load_file(const std::filesystem::path& file, const std::function<void(Row)>& each) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed || !std::filesystem::is_regular_file(path, failed))
    return Error{
        Code::kInvalid, "there is no such file", "Check the path.", {.file = file.string()}};
  Connection db = TRY(Connection::read(path));
  return load(db, each);
}

}  // namespace

Result<Contents> read(const std::filesystem::path& file) {
  Contents contents;
  Loaded loaded = TRY(load_file(file, [&](Row row) { contents.rows.push_back(std::move(row)); }));
  contents.owner = std::move(loaded.owner);
  contents.created = std::move(loaded.created);
  contents.datasets = loaded.chain.datasets();
  contents.head = loaded.chain.head();
  return contents;
}

Result<Verified> verify(const std::filesystem::path& file) {
  const Loaded loaded = TRY(load_file(file, [](const Row&) {}));
  return Verified{loaded.owner, loaded.chain.size(), loaded.chain.head()};
}

}  // namespace parley::ledger
