// The commands. Each takes what a person typed and gives what is printed; errors travel up to main.
#pragma once

#include <string>

#include "options.h"
#include "parley/base/progress.h"
#include "parley/base/result.h"

namespace parley::cli {

/// What goes to stdout: one or the other, never both.
struct Output {
  std::string text;
  std::string json;
  std::string note{};  // beside the text, to stderr
  int exit = 0;        // with what the process exits: a finding may be bad news
};

Result<Output> run(const InitOptions& options, ProgressStyle style);
Result<Output> run(const CharterOptions& options, ProgressStyle style);
Result<Output> run(const DataDescribeOptions& options, ProgressStyle style);
Result<Output> run(const DataPrepareOptions& options, ProgressStyle style);
Result<Output> run(const DataSplitOptions& options, ProgressStyle style);
Result<Output> run(const DataGenerateOptions& options, ProgressStyle style);
Result<Output> run(const SimulateOptions& options, ProgressStyle style);
Result<Output> run(const ForecastOptions& options, ProgressStyle style);
Result<Output> run(const DemoOptions& options, ProgressStyle style);
Result<Output> run(const PredictOptions& options, ProgressStyle style);
Result<Output> run(const LedgerOptions& options, ProgressStyle style);
Result<Output> run(const ReconcileOptions& options, ProgressStyle style);
Result<Output> run(const BudgetOptions& options, ProgressStyle style);
Result<Output> run(const CertsInitOptions& options, ProgressStyle style);
Result<Output> run(const CertsSignOptions& options, ProgressStyle style);
Result<Output> run(const JoinOptions& options, ProgressStyle style);
Result<Output> run(const OwnerOptions& options, ProgressStyle style);
Result<Output> run(const OwnerCheckOptions& options, ProgressStyle style);
Result<Output> run(const OwnerTuneOptions& options, ProgressStyle style);
Result<Output> run(const LearnerOptions& options, ProgressStyle style);
Result<Output> run(const DoctorOptions& options, ProgressStyle style);
Result<Output> run(const VerifyOptions& options, ProgressStyle style);
Result<Output> run(const AccountOptions& options, ProgressStyle style);
Result<Output> run(const AuditOptions& options, ProgressStyle style);
Result<Output> run(const ReproduceOptions& options, ProgressStyle style);

/// As many as asked for; 0: as many as the machine has.
int threads_or_all(int threads);

/// "key=value" in two parts, or an error that shows how.
struct Pair {
  std::string key, value;
};
Result<Pair> split_pair(const std::string& text, const std::string& option);

}  // namespace parley::cli
