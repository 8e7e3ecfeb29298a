#include "parley/ledger/storage/store.h"

#include <algorithm>
#include <utility>

#include "parley/ledger/storage/create.h"

namespace parley::ledger {
namespace {

constexpr const char* kSelectRow =
    "SELECT id, at, kind, dataset, charter, round, query, event, track, cost, delta, answer, "
    "previous, hash FROM charge ";

Error broken(const Connection& db, std::string what, std::string key = "") {
  return {Code::kIntegrity,
          std::move(what),
          "Restore the ledger from a backup and reconcile it. The file was left as it is.",
          {.file = db.file(), .key = std::move(key)}};
}

/// The same error, with the file it is about.
Error in_file(const Connection& db, Error error) {
  error.where.file = db.file();
  return error;
}

/// Tables, indexes and triggers, by type and name.
Result<std::string> shape_of(Connection& db) {
  Statement select = TRY(db.prepare(
      "SELECT type || ' ' || name AS part FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' "
      "ORDER BY part"));
  std::string shape;
  while (TRY(select.step())) shape += (shape.empty() ? "" : ", ") + select.text(0);
  return shape;
}

/// False if the column does not hold 32 bytes.
bool read_hash(const Statement& from, int column, Hash& into) {
  const Bytes bytes = from.blob(column);
  if (bytes.size() != into.size()) return false;
  std::copy(bytes.begin(), bytes.end(), into.begin());
  return true;
}

Result<Row> read_row(const Connection& db, const Statement& from) {
  Row row{.id = from.integer(0),
          .at = from.text(1),
          .kind = from.text(2),
          .dataset = from.integer(3),
          .round = from.integer(5),
          .event = from.text(7),
          .track = from.text(8),
          .cost = from.real(9),
          .delta = from.real(10),
          .answer = from.blob(11)};
  if (!read_hash(from, 4, row.charter) || !read_hash(from, 6, row.query) ||
      !read_hash(from, 12, row.previous) || !read_hash(from, 13, row.hash))
    return broken(db, "has a hash that is not 32 bytes long", "row " + std::to_string(row.id));
  return row;
}

/// The ledger's own row, checked.
Result<Loaded> read_origin(Connection& db) {
  const std::string shape = TRY(shape_of(db));
  if (shape.find("table ledger") == std::string::npos) return broken(db, "is not a Parley ledger");
  Statement select = TRY(db.prepare("SELECT format, owner, created, genesis FROM ledger"));
  if (!TRY(select.step())) return broken(db, "is a ledger without an owner");
  const int64_t format = select.integer(0);
  if (format != 1 && format != kFormat)
    return Error{Code::kIntegrity,
                 "is a ledger of format " + std::to_string(format) +
                     "; this program knows formats 1 and " + std::to_string(kFormat),
                 "Use the version of Parley that wrote it, or a newer one.",
                 {.file = db.file()}};
  const std::string owner = select.text(1), created = select.text(2);
  const Bytes genesis = select.blob(3);
  if (TRY(select.step())) return broken(db, "is a ledger with two owners");
  return Loaded{owner, created, key_of(genesis),
                Chain(origin_of(format, owner, created, genesis), format)};
}

Result<void> check_shape(Connection& db) {
  const std::string shape = TRY(shape_of(db));
  if (shape != kShape) return broken(db, "has other tables, indexes or triggers: " + shape);
  return {};
}

Result<void> read_datasets(Connection& db, Chain& chain) {
  Statement select = TRY(
      db.prepare("SELECT id, name, epsilon, delta, pure_max, rho_max, delta_convert, delta_extra "
                 "FROM dataset ORDER BY id"));
  while (TRY(select.step()))
    chain.declare({.id = select.integer(0),
                   .name = select.text(1),
                   .budget = {.epsilon = select.real(2),
                              .delta = select.real(3),
                              .pure_max = select.real(4),
                              .rho_max = select.real(5),
                              .delta_convert = select.real(6),
                              .delta_extra = select.real(7)}});
  return {};
}

/// All rows after those that the chain has.
Result<void> read_rows(Connection& db, Chain& chain, const std::function<void(Row)>& each) {
  const std::string sql = std::string(kSelectRow) + "NOT INDEXED WHERE id > ? ORDER BY id";
  Statement select = TRY(db.prepare(sql.c_str()));
  select.bind(chain.size());
  while (TRY(select.step())) {
    Row row = TRY(read_row(db, select));
    if (const auto accepted = chain.accepts(row); !accepted) return in_file(db, accepted.error());
    chain.extend(row);
    each(std::move(row));
  }
  if (const auto complete = chain.is_complete(); !complete) return in_file(db, complete.error());
  return {};
}

/// The newest, if there is one: backwards, for it is near the end.
Result<std::optional<Row>> last_checkpoint(Connection& db, int64_t format) {
  const std::string sql = std::string(kSelectRow) +
                          (format == 1 ? "WHERE kind = 'approval' AND event LIKE '{\"checkpoint\"%'"
                                       : "NOT INDEXED WHERE kind = 'checkpoint'") +
                          " ORDER BY id DESC LIMIT 1";
  Statement select = TRY(db.prepare(sql.c_str()));
  if (!TRY(select.step())) return std::optional<Row>();
  return std::optional(TRY(read_row(db, select)));
}

/// Whether it is what `key` has signed, at the end of the rows that it speaks of.
Result<bool> is_sound(Connection& db, const Chain& chain, const Row& row, const SignKey& key) {
  const auto note = note_from(row.event);
  const auto* checkpoint = note ? std::get_if<Checkpoint>(&*note) : nullptr;
  if (!checkpoint || checkpoint->key != key || row.hash != hash_of(row) ||
      !is_signed(key, chain.checkpoint_bytes(row), checkpoint->signature))
    return false;
  Statement before = TRY(db.prepare("SELECT hash FROM charge WHERE id = ?"));
  before.bind(row.id - 1);
  Hash hash{};
  return TRY(before.step()) && read_hash(before, 0, hash) && hash == row.previous;
}

}  // namespace

Hash origin_of(int64_t format, const std::string& owner, const std::string& created,
               ByteView genesis) {
  return TupleBytes()
      .add(static_cast<uint64_t>(format))
      .add(owner)
      .add(created)
      .add(genesis)
      .sha256();
}

Hash key_of(ByteView genesis) {
  return TupleBytes().add("parley ledger fingerprints").add(genesis).sha256();
}

Result<std::optional<Loaded>> load_since_checkpoint(Connection& db, const SignKey& key) {
  TRY(db.run("BEGIN"));
  auto loaded = [&]() -> Result<std::optional<Loaded>> {
    Loaded loaded = TRY(read_origin(db));
    TRY(check_shape(db));
    const auto row = TRY(last_checkpoint(db, loaded.chain.format()));
    if (!row || !TRY(is_sound(db, loaded.chain, *row, key))) return std::optional<Loaded>();
    TRY(read_datasets(db, loaded.chain));
    if (!loaded.chain.resume(*row)) return std::optional<Loaded>();
    TRY(read_rows(db, loaded.chain, [](const Row&) {}));
    return std::optional(std::move(loaded));
  }();
  TRY(db.run("COMMIT"));
  return loaded;
}

Result<Loaded> load(Connection& db, const std::function<void(Row)>& each) {
  // Every row is looked up in an index in the order of its hash; 128 MB hold that of a million.
  TRY(db.run("PRAGMA cache_size = -131072"));
  TRY(db.run("BEGIN"));  // One snapshot, also while a daemon writes.
  Loaded loaded = TRY(read_origin(db));
  TRY(read_datasets(db, loaded.chain));
  TRY(read_rows(db, loaded.chain, each));
  TRY(check_shape(db));
  const std::string sound = TRY(db.value("PRAGMA integrity_check(1)"));
  if (sound != "ok") return broken(db, "is a damaged database: " + sound);
  TRY(db.run("COMMIT"));
  return loaded;
}

Result<void> Tables::expect_head(const Chain& chain) {
  Statement select = TRY(db_.prepare("SELECT id, hash FROM charge ORDER BY id DESC LIMIT 1"));
  const bool any = TRY(select.step());
  Hash head{};
  const bool same =
      any ? select.integer(0) == chain.size() && read_hash(select, 1, head) && head == chain.head()
          : chain.size() == 0;
  if (same) return {};
  return Error{Code::kIntegrity,
               "someone else wrote to the ledger while it was in use",
               "Stop whatever wrote to it, then verify it.",
               {.file = db_.file()}};
}

Result<void> Tables::insert(const Row& row) {
  Statement insert =
      TRY(db_.prepare("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(row.id).bind(row.at).bind(row.kind).bind(row.dataset).bind(row.charter);
  insert.bind(row.round).bind(row.query).bind(row.event).bind(row.track).bind(row.cost);
  insert.bind(row.delta).bind(row.answer).bind(row.previous).bind(row.hash);
  const auto done = insert.step();
  if (!done && (row.kind == "gram" || row.kind == "after_alarm"))
    return Error{Code::kInvalid,
                 "cannot hold a charge of kind " + row.kind +
                     ": it was made by a version before rule \"gram\" (" + done.error().what + ")",
                 "Nothing was paid. Use a ledger that this version made, or another rule.",
                 {.file = db_.file()}};
  TRY(done);
  return {};
}

Result<void> Tables::put(const Dataset& dataset) {
  const privacy::Budget& budget = dataset.budget;
  // Not INSERT OR REPLACE: that deletes first, and rows refer to it.
  Statement put = TRY(db_.prepare(
      "INSERT INTO dataset VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
      "epsilon = excluded.epsilon, delta = excluded.delta, pure_max = excluded.pure_max, rho_max = "
      "excluded.rho_max, delta_convert = excluded.delta_convert, delta_extra = "
      "excluded.delta_extra"));
  put.bind(dataset.id).bind(dataset.name).bind(budget.epsilon).bind(budget.delta);
  put.bind(budget.pure_max).bind(budget.rho_max).bind(budget.delta_convert);
  put.bind(budget.delta_extra);
  TRY(put.step());
  return {};
}

Result<std::optional<Row>> Tables::only_row(Statement& select) {
  if (!TRY(select.step())) return std::optional<Row>();
  Row row = TRY(read_row(db_, select));
  if (row.hash != hash_of(row))
    return broken(db_, "is not what its hash says", "row " + std::to_string(row.id));
  return std::optional<Row>(std::move(row));
}

Result<std::optional<Row>> Tables::find_row(int64_t id) {
  Statement select = TRY(db_.prepare((std::string(kSelectRow) + "WHERE id = ?").c_str()));
  select.bind(id);
  return only_row(select);
}

Result<std::optional<Row>> Tables::find_charge(const Hash& charter, privacy::ReleaseKind kind,
                                               uint32_t round) {
  // The kind is written out: only then does SQLite see that the index of answers, which is partial,
  // has the row.
  const std::string where =
      "WHERE charter = ? AND round = ? AND kind = '" + std::string(name_of(kind)) + "'";
  Statement select = TRY(db_.prepare((kSelectRow + where).c_str()));
  select.bind(charter).bind(int64_t{round});
  return only_row(select);
}

Result<void> RowList::begin() {
  before_ = rows_.size();
  return {};
}

Result<void> RowList::insert(const Row& row) {
  check(row.id == static_cast<int64_t>(rows_.size()) + 1);
  rows_.push_back(row);
  return {};
}

Result<std::optional<Row>> RowList::find_row(int64_t id) {
  if (id < 1 || id > static_cast<int64_t>(rows_.size())) return std::optional<Row>();
  return std::optional(rows_[static_cast<size_t>(id - 1)]);
}

Result<std::optional<Row>> RowList::find_charge(const Hash& charter, privacy::ReleaseKind kind,
                                                uint32_t round) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
    return row.charter == charter && row.kind == name_of(kind) && row.round == int64_t{round};
  });
  return found == rows_.end() ? std::optional<Row>() : std::optional(*found);
}

}  // namespace parley::ledger
