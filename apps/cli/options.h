// What a person can type: one struct per command. Only options*.cc know the parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/readers/csv_scan.h"

namespace parley::cli {

struct CharterOptions {
  enum class Action { kHash, kCheck, kExplain } action;
  std::filesystem::path charter;
  std::vector<std::string> set;  // key=value
};

struct InitOptions {
  std::vector<std::filesystem::path> files;  // of the owners
  std::string target;
  std::vector<std::string> without;
  std::filesystem::path pilot;  // empty: none
  std::filesystem::path out;    // empty: stdout
  data::CsvSigns signs;         // of the files named here
};

/// Without a charter: what the files look like. With one: what it makes of an owner's data.
struct DataDescribeOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::optional<std::filesystem::path> policy;  // instead of a file
  std::string dataset;   // of the policy; empty: what its rules choose for the charter
  data::CsvSigns signs;  // of the files named here
};

struct DataPrepareOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::filesystem::path pilot;
  // In place of public rows: an owner's paid moments, and the pilot that is made of them.
  std::optional<double> paid;
  std::filesystem::path policy;
  std::string dataset;
  std::optional<double> row_norm;
  std::vector<std::filesystem::path> moments;
  uint64_t rows = 10000;
  uint64_t top = 0;
  std::string top_by = "correlation";
  uint64_t components = 0;
  bool whiten = false;
  uint64_t fourier = 0;  // features; 0: none
  double scale = 1;
  uint64_t seed = 1;
  std::filesystem::path out;  // empty: bundle.json, pilot.csv, <owner>.moments.json
  data::CsvSigns signs;       // of the files named here
};

struct DataSplitOptions {
  std::filesystem::path file;
  std::vector<std::string> owners;
  std::vector<double> shares;  // empty: equal
  std::string by;
  std::optional<uint64_t> random;
  std::filesystem::path out = ".";
  data::CsvSigns signs;  // of the files named here
};

struct DataGenerateOptions {
  std::string standin;
  std::vector<std::string> owners;  // name=rows
  uint64_t rows = 0;                // instead of owners: one file
  uint64_t pilot = 10000;
  uint64_t seed = 1;
  double drift = 0.7;
  bool raw = false;
  std::filesystem::path out = ".";
};

struct SimulateOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::vector<std::string> data;  // OWNER=FILE, or one folder
  std::filesystem::path split;    // one file of all owners
  std::string split_by;           // the column that names the owner; empty: consecutive blocks
  std::string standin;
  uint64_t standin_seed = 1;
  std::vector<std::filesystem::path> policies;
  uint64_t seed = 1;
  uint64_t runs = 1;
  bool baseline = false;
  int threads = 0;                    // 0: as many as the machine has
  std::optional<uint64_t> memory_mb;  // for each owner's rows, instead of what policies say
  std::optional<std::filesystem::path> out;
  data::CsvSigns signs;  // of the files named here
};

struct ForecastOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::filesystem::path data;  // where pilot and bundle lie; empty: beside the charter
  std::optional<double> target;
  bool tune = false;
  std::filesystem::path out;                   // of the completed charter; empty: nowhere
  std::filesystem::path html;                  // of the report; empty: none
  std::vector<std::string> prices;             // OWNER=PRICE, of one unit of epsilon
  double value = 0;                            // of one unit of relative fitness, in the same money
  double differ = 0;                           // tau^2 in units of f*
  double aggregation_price = 0;                // in relative fitness; federated only
  std::optional<double> delta;                 // that owners would accept
  std::vector<std::filesystem::path> moments;  // from which the pilot was drawn
  int threads = 0;                             // 0: as many as the machine has
  data::CsvSigns signs;                        // of the pilot
};

struct DemoOptions {
  std::filesystem::path out = "parley-demo";
  uint64_t rows = 100000;  // of each bank
  uint64_t runs = 20;
  uint64_t seed = 7;
  int threads = 0;  // 0: as many as the machine has
};

struct PredictOptions {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::string query;     // of a part: what this prediction is called
  data::CsvSigns signs;  // of the files named here
};

struct LedgerOptions {
  enum class Action { kShow, kVerify, kExport } action;
  std::filesystem::path ledger;
  std::string dataset;  // to export; empty: the only one
};

struct ReconcileOptions {
  std::filesystem::path policy;
  std::vector<std::filesystem::path> receipts;
  std::string dataset;  // empty: as ledger and policy tell
};

struct BudgetOptions {
  std::filesystem::path policy;
};

struct CertsInitOptions {
  std::string consortium;
  std::string address;  // of the learner; empty: not known yet
  std::filesystem::path out = ".";
  int64_t days = 3650;
};

struct CertsSignOptions {
  std::filesystem::path request;
  std::filesystem::path authority = ".";
  int64_t days = 365;
  bool replace = false;
  std::filesystem::path out;  // empty: NAME.crt beside the request
};

struct JoinOptions {
  std::filesystem::path invitation;
  std::string name;
  std::string role = "owner";
  std::filesystem::path out = ".";
};

struct OwnerOptions {
  enum class Action { kRun, kApprove } action{};
  std::filesystem::path policy{};
  std::vector<std::filesystem::path> charters{};
  std::string dial{}, listen{}, learner{};
  int64_t wait = 600;
};

struct OwnerCheckOptions {
  std::filesystem::path policy{};
  std::vector<std::filesystem::path> charters{};
  std::string dial{};
  bool no_data = false;
};

struct OwnerTuneOptions {
  std::filesystem::path policy{}, charter{}, transcript{};
  std::filesystem::path out = "tuned.json";
};

struct LearnerOptions {
  std::filesystem::path charter{};
  bool resume = false;
  std::string as{};  // the owner that learns, where every owner does
  std::filesystem::path identity = ".";
  std::string listen{};
  std::optional<std::filesystem::path> out{};
  std::optional<std::filesystem::path> receipts{};
  int64_t wait = 600;
};

/// An owner's, by its policy, or a learner's, by the folder of its papers.
struct DoctorOptions {
  std::filesystem::path policy = "/etc/parley/policy.toml";
  std::filesystem::path charter;  // empty: none
  std::vector<std::string> set;
  std::string dial;                // empty: as the policy says
  std::string learner;             // where every owner learns: the one to dial
  std::filesystem::path identity;  // empty: an owner
  std::string name;
};

struct VerifyOptions {
  std::filesystem::path model{}, transcript{}, charter{};
  std::string as{};                    // whose copy, where every owner learns
  std::vector<std::string> ledgers{};  // OWNER=FILE
};

struct AccountOptions {
  enum class Action { kEpsilon, kDelta, kCalibrate } action = Action::kEpsilon;
  std::filesystem::path events;  // empty: one kind of event, by the next four
  double gaussian = 0, laplace = 0;
  double sampling_probability = 0;  // 0: all records
  uint64_t count = 1;
  std::string dataset;  // of a ledger
  std::string adjacency = "replace_one";
  std::string accountant;  // empty: all, or the one a ledger enforces
  std::vector<double> at_delta, at_epsilon;
};

/// A charter's owner, a mechanism or a planted bug; one of the first three, or a list of them.
struct AuditOptions {
  std::filesystem::path charter{};
  std::string mechanism{}, planted{};
  bool list = false;
  std::vector<std::string> set{};
  std::string owner{};  // of the charter; empty: the first
  double epsilon = 1, delta = 1e-5;
  uint32_t answers = 1;
  std::string method = "two_world";
  std::optional<uint64_t> runs{};
  std::optional<double> confidence{};
  uint64_t seed = 1;
  int threads = 0;  // 0: as many as the machine has
};

struct ReproduceOptions {
  std::vector<std::string> ids{};  // empty: all
  bool list = false, quick = false;
  std::filesystem::path data{};  // empty: stand-ins
  std::filesystem::path out = "reproduction";
  uint64_t seed = 1;
  std::optional<uint64_t> runs{};
  int threads = 0;  // 0: as many as the machine has
};

struct Invocation {
  bool json = false;
  bool quiet = false;
  std::variant<std::monostate, InitOptions, CharterOptions, DataDescribeOptions, DataPrepareOptions,
               DataSplitOptions, DataGenerateOptions, SimulateOptions, ForecastOptions, DemoOptions,
               PredictOptions, LedgerOptions, ReconcileOptions, BudgetOptions, CertsInitOptions,
               CertsSignOptions, JoinOptions, OwnerOptions, OwnerCheckOptions, OwnerTuneOptions,
               LearnerOptions, VerifyOptions, DoctorOptions, AccountOptions, AuditOptions,
               ReproduceOptions>
      command;
};

/// The command, or what to print and exit with: help, the version, or what was wrong.
struct Parsed {
  Invocation invocation;
  std::optional<int> exit;
};
Parsed parse(int argc, const char* const* argv);

}  // namespace parley::cli
