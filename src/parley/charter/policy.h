// A policy: an owner's own rules. It never leaves the owner: which data there are, what may be
// spent on them in a lifetime, who may ask, and what runs without a person.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/data/sources/source.h"
#include "parley/privacy/budget/budget.h"

namespace parley::charter {

enum class Source { kCsv, kLibsvm, kSqlite, kPostgres, kParquet, kAdbc, kCommand };
template <>
inline constexpr auto kNames<Source> =
    names("csv", "libsvm", "sqlite", "postgres", "parquet", "adbc", "command");

/// Where sums over records are made: here, of rows that were read, or in the database.
enum class Engine { kRows, kSql };
template <>
inline constexpr auto kNames<Engine> = names("rows", "sql");

inline constexpr const char* kMembersFile = "members.pem";

struct Identity {
  std::string consortium;
  std::filesystem::path certificate, key, authority, sign_key;
  std::filesystem::path members{};   // certificates of all owners; read_policy: beside authority
  std::filesystem::path revoked{};   // the authority's list; empty: beside authority
  std::filesystem::path charters{};  // a folder where the list may come with charters; empty: none
  std::filesystem::path memory{};    // where the newest list is kept for the next start; or empty
  std::filesystem::path learner{};   // folder of its credentials as a learner; empty: none
};

struct Dataset {
  std::string name;
  Source source = Source::kCsv;
  std::filesystem::path path{};    // files; of Parquet also a pattern
  std::string dsn, query;          // databases
  std::filesystem::path driver{};  // of adbc and parquet: a shared library
  std::optional<Hash> driver_sha256{};
  std::string entry = "AdbcDriverInit";                          // its function
  std::map<std::string, std::string> options{}, option_files{};  // of adbc: values; files
  std::vector<std::string> setup{};                              // statements before the query
  Engine engine = Engine::kRows;
  std::string dialect{};  // engine sql: of which database; empty: the source's. adbc: if known
  std::vector<std::string> command{};  // source command: the program that runs statements
  std::string separator = ",", decimal = ".";
  std::vector<std::string> header{};             // of a CSV file that has none
  std::map<std::string, std::string> columns{};  // charter's name = our name, where they differ
  std::optional<data::RowFilter> where{};
  privacy::Budget budget{};
  std::string unit_column;                // empty: a unit is a record
  std::optional<int64_t> unit_records{};  // no charter may use more of one unit
  std::vector<std::string> unit_order{};  // engine sql: columns that say which of them come first
};

/// One [[accept]] rule. What it leaves out it does not ask about.
struct Accept {
  std::string consortium;
  std::optional<std::string> learner{};
  std::vector<ProtocolName> protocols{};  // empty: all but sharing, allowed by name only
  std::vector<std::string> must_have{};   // owners without whom no charter is for it
  std::vector<std::string> may_have{};    // beside us, and no others; empty: anyone
  int64_t others_min = 0;                 // so many owners beside us at least
  Dealer dealer = Dealer::kNone;  // kLearner: columns may have a learner that deals masks and noise
  std::string dataset;
  double epsilon_max = 0;  // per charter, at the delta of the data set
  bool person = true;      // waits for a person

  /// Whatever it asks for.
  bool is_for(const Charter& charter, const std::string& us) const;
  bool allows_protocol(const Charter& charter) const;
  bool allows_dealer(const Charter& charter) const;
  bool allows_owners(const Charter& charter, const std::string& us) const;
};

/// The least gain that this owner calls material, by metric; where none is given, the default.
struct Worth {
  std::optional<double> auc{};               // a difference
  std::optional<double> rmse{}, log_loss{};  // a share
};

/// The console inside the daemon.
struct WebPage {
  std::string listen{};              // empty: none
  std::vector<std::string> hosts{};  // further names of the server
  std::string person_header{};       // in which a proxy names people; empty: links
  bool operator==(const WebPage&) const = default;
};

struct Policy {
  std::string owner;
  std::filesystem::path state, charters;
  std::filesystem::path witness{};  // of the ledger, at another place; empty: none
  std::optional<Identity> identity{};
  std::vector<Dataset> datasets{};
  std::vector<Accept> accept{};
  Addresses dial{};
  std::string proxy{};
  std::string listen{};  // where it listens, if it does; else as the charter says
  std::map<std::string, Addresses> peers{};  // addresses of others, instead of the charter's
  int64_t threads = 1;
  int64_t memory_mb = 4096;    // of 2^20 bytes
  double unpacked_gb = 64;     // of 2^30 bytes: the most that a packed file may hold
  int64_t answer_ms = 0;       // answers leave at multiples of it; 0: at once
  int64_t database_s = 3600;   // how long an engine or a driver may be silent
  std::string metrics_listen;  // empty: no metrics
  WebPage web{};
  Worth worth{};
  std::filesystem::path folder{};  // where relative paths of data and credentials start

  /// The first rule that matches decides; nullptr means refused. A charter that does not name this
  /// owner, is a draft, or is calibrated like a paper is always refused.
  const Accept* first_match(const Charter& charter) const;
  /// The data set that the first matching rule names, or why there is none.
  Result<const Dataset*> dataset_for(const Charter& charter) const;
  /// What the charter asks of this owner, as epsilon at the delta of the rule's data set: a larger
  /// delta in the charter makes a given epsilon a weaker promise. Infinite where no delta was
  /// given.
  double epsilon_of(const Charter& charter, const Owner& us, const Accept& rule) const;
  /// The file that says that a person has approved this charter.
  std::filesystem::path approval_of(const Charter& charter) const {
    return folder / charters / (to_hex(charter.hash) + ".approved");
  }
  /// unix:PATH with the path in the policy's folder, unless it is a whole one; host:port as it is.
  std::string listen_at(const std::string& listen) const;
};

/// Where the data set lies and what of it `charter` may use, within the policy's limits: rows that
/// need more memory lie in a file in its state folder. A charter whose privacy unit does not fit
/// the policy's cap on units is refused.
Result<data::Source> source_of(const Policy& policy, const Dataset& data, const Charter& charter);
/// What of it the charter may use, wherever it lies.
Result<data::Selection> selection_of(const Policy& policy, const Dataset& data,
                                     const Charter& charter);

/// Where the records of a data set lie, for comparison: the same for every name, filter and cap
/// that a policy gives them, which do not make them other people's.
struct Place {
  std::string is{};             // "csv /data/loans.csv", "postgres service=x: loans"
  std::vector<Hash> digests{};  // of how each file, or table of SQLite, begins; no other's, whose
                                // order changes
};
Result<Place> records_at(const Policy& policy, const Dataset& data);

Result<Policy> read_policy(const std::filesystem::path& file);
Result<Policy> parse_policy(std::string_view toml, const std::string& file_name);

}  // namespace parley::charter
