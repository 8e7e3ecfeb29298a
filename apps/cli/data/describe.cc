// parley data describe
#include "parley/report/data/describe.h"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "command.h"
#include "parley/charter/policy.h"
#include "parley/data/sources/source.h"
#include "parley/report/data/reading.h"

namespace parley::cli {
namespace {

/// Without a charter: what the files look like. With one: what it makes of an owner's data.
struct DataDescribeOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::optional<std::filesystem::path> policy;  // instead of a file
  std::string dataset;   // of the policy; empty: what its rules choose for the charter
  data::CsvSigns signs;  // of the files named here
};

Result<data::Source> source_from(const DataDescribeOptions& options, const charter::Policy& policy,
                                 const charter::Charter& charter) {
  if (options.dataset.empty())
    return charter::source_of(policy, *TRY(policy.dataset_for(charter)), charter);
  for (const charter::Dataset& data : policy.datasets)
    if (data.name == options.dataset) return charter::source_of(policy, data, charter);
  return Error{Code::kInvalid, "the policy has no data set \"" + options.dataset + "\"",
               "Name one of its [[dataset]] blocks."};
}

Result<data::Source> source_for(const DataDescribeOptions& options,
                                const charter::Charter& charter) {
  if (options.policy)
    return source_from(options, TRY(charter::read_policy(*options.policy)), charter);
  if (options.files.size() != 1)
    return Error{Code::kInvalid, "a charter reads one source at a time",
                 "Name one file, or add --policy FILE."};
  data::Source source = data::source_of(options.files[0], options.signs);
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.unit != "record")
    source.select.unit = {privacy.unit, static_cast<uint64_t>(privacy.unit_records)};
  return source;
}

/// What the charter makes of the data.
Result<Output> describe_reading(const DataDescribeOptions& options) {
  charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  TRY(charter::load_bundle(charter, std::array{charter.folder}));
  data::Source source = TRY(source_for(options, charter));
  // Not an error here: how many there are is what the owner asks.
  const std::optional<uint64_t> expected = std::exchange(source.select.rows, std::nullopt);
  const data::CountedRows loaded = TRY(data::load(source, charter.schema));
  const report::Description description{.source = data::name_of(source),
                                        .charter_rows = expected,
                                        .schema = charter.schema,
                                        .unit = charter.privacy.unit,
                                        .counts = loaded.counts};
  return Output{report::to_text(description), report::to_json(description)};
}

/// What the files look like.
Result<Output> describe_files(const DataDescribeOptions& options) {
  if (options.files.empty())
    return Error{Code::kInvalid, "no data given", "Name one or more CSV files."};
  std::vector<report::DescribedFile> files;
  for (const auto& file : options.files) {
    auto profile = TRY(data::profile_csv(file, options.signs));
    files.push_back({file.string(), std::move(profile)});
  }
  return Output{report::to_text(files), report::to_json(files)};
}

Result<Output> run(const DataDescribeOptions& options, ProgressStyle) {
  return options.charter.empty() ? describe_files(options) : describe_reading(options);
}

}  // namespace

void add_data_describe(Commands data) {
  const auto [app, options] =
      data.add<DataDescribeOptions>("describe",
                                    "Describe files or, with a charter, count what it changes in "
                                    "them; the output is as private as the data",
                                    run);
  auto* files =
      app.add_option("files", options.files, "CSV files; with --charter one CSV or LIBSVM file");
  files->type_name("FILE");
  auto* charter = app.add_option("--charter", options.charter,
                                 "Count missing values and values outside this charter's bounds");
  charter->type_name("FILE");
  auto* policy =
      app.add_option("--policy", options.policy, "Read this policy's data instead of a file");
  policy->type_name("FILE")->excludes(files)->needs(charter);
  app.add_option("--dataset", options.dataset, "A data set of the policy")->needs(policy);
  set_option(app, options.set);
  signs_options(app, options.signs);
}

}  // namespace parley::cli
