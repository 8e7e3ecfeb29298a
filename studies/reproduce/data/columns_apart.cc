#include "studies/reproduce/data/columns_apart.h"

#include "parley/base/math/number.h"
#include "parley/data/readers/libsvm.h"
#include "parley/learn/vertical/admm/columns.h"
#include "studies/reproduce/data/files.h"
#include "studies/reproduce/data/standin_columns.h"

namespace parley::reproduce {
namespace {

data::Schema numbers(size_t columns) {
  data::Schema schema;
  for (size_t j = 1; j <= columns; ++j)
    schema.columns.push_back({.name = "f" + std::to_string(j), .low = -1, .high = 1});
  schema.target = {.column = "y", .levels = {"-1", "+1"}};
  return schema;
}

Result<data::AnyRows> read(const std::filesystem::path& file, size_t columns, bool sparse) {
  if (sparse) {
    auto rows = TRY(data::read_libsvm_sparse(file, numbers(columns))).rows;
    return data::AnyRows(std::make_shared<const data::SparseRows>(std::move(rows)));
  }
  auto rows = TRY(data::read_libsvm(file, numbers(columns))).rows;
  return data::AnyRows(std::make_shared<const data::Rows>(std::move(rows)));
}

/// The training file and, beside it, the one whose name goes on with ".t".
Result<ColumnsApart> from_files(const FoundFile& found, std::vector<size_t> parties, bool sparse) {
  std::string name = found.path.filename().string();
  const bool packed = name.ends_with(".zst");
  if (packed) name.resize(name.size() - 4);
  const auto test = found.path.parent_path() / (name + ".t" + (packed ? ".zst" : ""));
  if (!std::filesystem::is_regular_file(test))
    return Error{Code::kInvalid,
                 "the test records are missing",
                 "Put that file beside the other.",
                 {.file = test.string()}};
  size_t columns = 0;
  for (size_t each : parties) columns += each;
  ColumnsApart result{.parties = std::move(parties)};
  result.train = TRY(read(found.path, columns, sparse));
  result.test = TRY(read(test, columns, sparse));
  result.source = name + ", " + grouped(data::size_of(result.train)) + " records and " +
                  grouped(data::size_of(result.test)) + " to test";
  return result;
}

/// Made once for all figures.
Result<SharedColumns> kept(const Study& study, const std::string& key,
                           const std::function<Result<ColumnsApart>()>& make) {
  std::any& place = (*study.computed)[key];
  if (!place.has_value()) {
    ColumnsApart made = TRY(make());
    place = std::make_shared<const ColumnsApart>(std::move(made));
  }
  return std::any_cast<SharedColumns>(place);
}

}  // namespace

Result<SharedColumns> census_columns(const Study& study) {
  return kept(study, "census columns", [&]() -> Result<ColumnsApart> {
    if (study.data.empty()) return standin_census(study.seed, study.quick);
    return from_files(TRY(find_file(study.data, "census")), {66, 57}, true);
  });
}

Result<SharedColumns> digit_columns(const Study& study) {
  return kept(study, "digit columns", [&]() -> Result<ColumnsApart> {
    if (!study.data.empty())
      if (const auto found = find_file(study.data, "digits"))
        return from_files(*found, {2000, 2000, 1000}, false);
    return standin_digits(study.seed, study.quick);
  });
}

std::vector<data::AnyRows> blocks_of(const ColumnsApart& columns) {
  std::vector<data::AnyRows> blocks;
  size_t first = 0;
  for (size_t count : columns.parties) {
    blocks.push_back(learn::columns_between(columns.train, first, first + count));
    first += count;
  }
  return blocks;
}

std::vector<double> labels_of(const data::AnyRows& rows) {
  return std::visit(
      [](const auto& kind) {
        return std::vector<double>(kind->labels(), kind->labels() + kind->size());
      },
      rows);
}

}  // namespace parley::reproduce
