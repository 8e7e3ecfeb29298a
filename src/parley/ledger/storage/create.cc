#include "parley/ledger/storage/create.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "parley/base/entropy.h"

namespace parley::ledger {
namespace {

// Where it says OR a list would be shorter, but for one of more than two SQLite makes a table, and
// asks the system for its memory, in every single insertion.
constexpr const char* kTables = R"sql(
CREATE TABLE ledger (
  format  INTEGER NOT NULL CHECK (format = 2),
  owner   TEXT NOT NULL,
  created TEXT NOT NULL,                 -- RFC 3339, UTC
  genesis BLOB NOT NULL CHECK (length(genesis) = 32)
) STRICT;
CREATE TABLE dataset (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  epsilon REAL NOT NULL CHECK (epsilon > 0),              -- the lifetime promise, as a person reads it
  delta   REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
  pure_max  REAL NOT NULL CHECK (pure_max >= 0),          -- the tracks behind it, fixed before the first charge
  rho_max   REAL NOT NULL CHECK (rho_max >= 0),           --   pure_max + eps_zCDP(rho_max, delta_convert) <= epsilon
  delta_convert REAL NOT NULL CHECK (delta_convert >= 0), --   delta_convert + delta_extra <= delta
  delta_extra   REAL NOT NULL CHECK (delta_extra >= 0)
) STRICT;                                 -- a change of a budget is a row in charge, kind 'budget', so that it is chained too
CREATE TABLE charge (
  id       INTEGER PRIMARY KEY,           -- 1, 2, 3, ... no gaps
  at       TEXT NOT NULL,
  kind     TEXT NOT NULL CHECK (kind = 'answer' OR kind = 'evaluation' OR kind = 'count' OR kind = 'gram' OR kind = 'after_alarm' OR kind = 'budget' OR kind = 'approval' OR kind = 'checkpoint'),
  dataset  INTEGER NOT NULL REFERENCES dataset (id),
  charter  BLOB NOT NULL CHECK (length(charter) = 32),
  round    INTEGER NOT NULL,
  query    BLOB NOT NULL CHECK (length(query) = 32),   -- SHA-256 of the query as received: the same round with another theta is refused
  event    TEXT NOT NULL,                 -- DpEvent JSON; all an accountant needs
  track    TEXT NOT NULL CHECK (track = 'pure' OR track = 'zcdp' OR track = 'none'),  -- exactly one per charge; 'none' where nothing was released
  cost     REAL NOT NULL CHECK (cost >= 0),    -- epsilon or rho on that track, rounded up
  delta    REAL NOT NULL CHECK (delta >= 0),   -- the mechanism's own delta, rounded up (0 for exact noise)
  answer   BLOB NOT NULL,                 -- the bytes that left (or would have): replayed as they are
  previous BLOB NOT NULL CHECK (length(previous) = 32),
  hash     BLOB NOT NULL CHECK (length(hash) = 32)  -- not UNIQUE, as in format 1: an index by hash is written anywhere in the file, and a large ledger pays for it with every answer; SHA-256 over previous and all columns above, each length-prefixed, answer by its own SHA-256
) STRICT;
CREATE UNIQUE INDEX one_answer ON charge (charter, kind, round) WHERE kind = 'answer' OR kind = 'evaluation' OR kind = 'count' OR kind = 'gram' OR kind = 'after_alarm';
CREATE TRIGGER charge_is_append_only BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
)sql";

/// Renamed, and the new name made durable.
bool move(const std::string& from, const std::filesystem::path& to, Disk disk) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return false;
  if (disk == Disk::kUnsynced) return true;
  const int folder = ::open(to.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool synced = ::fsync(folder) == 0;
  ::close(folder);
  return synced;
}

Hash random_hash() {
  SystemEntropy entropy;
  Hash hash;
  for (uint8_t& byte : hash) byte = static_cast<uint8_t>(entropy.word());
  return hash;
}

Result<void> create_aside(const std::string& aside, const std::string& owner, Clock& clock,
                          Disk disk) {
  Connection db = TRY(Connection::create(aside));
  if (disk == Disk::kUnsynced) TRY(db.run("PRAGMA synchronous=OFF"));
  TRY(create(db, owner, clock, random_hash()));
  return db.run("PRAGMA journal_mode=WAL");  // Kept in the file. Closing empties the log.
}

}  // namespace

Result<void> create(Connection& db, const std::string& owner, Clock& clock, const Hash& genesis) {
  return db.in_transaction([&]() -> Result<void> {
    TRY(db.run(kTables));
    Statement insert = TRY(db.prepare("INSERT INTO ledger VALUES (?, ?, ?, ?)"));
    const std::string created = clock.now();
    insert.bind(kFormat).bind(owner).bind(created).bind(genesis);
    TRY(insert.step());
    return {};
  });
}

Result<void> create_file(const std::filesystem::path& file, const std::string& owner, Clock& clock,
                         Disk disk) {
  const std::string name = file.string(), aside = name + ".unfinished";
  std::error_code ignored;
  if (std::filesystem::file_size(name + "-wal", ignored) > 0 && !ignored)
    return Error{Code::kIntegrity,
                 "the ledger is missing, but its log is there",
                 "Restore the ledger from a backup and reconcile it.",
                 {.file = name}};
  const auto clear = [&] {
    for (const char* end : {"", "-journal", "-wal", "-shm"})
      std::filesystem::remove(aside + end, ignored);
  };
  clear();  // What an interrupted attempt left.
  Result<void> made = create_aside(aside, owner, clock, disk);
  if (made && !move(aside, file, disk))
    made = Error{Code::kFailed,
                 std::string("cannot make the ledger: ") + std::strerror(errno),
                 "Check the permissions of the folder and the room on the disk.",
                 {.file = name}};
  clear();
  return made;
}

}  // namespace parley::ledger
