#include "studies/reproduce/data/columns_apart.h"

#include "parley/base/math/number.h"
#include "parley/data/readers/libsvm.h"
#include "parley/learn/vertical/admm/columns.h"
#include "studies/reproduce/data/files.h"
#include "studies/reproduce/data/standin_columns.h"

namespace parley::reproduce {
namespace {

/// How a known LIBSVM file is read.
struct Reading {
  std::vector<size_t> parties{};
  bool sparse = false;
  double low = -1, high = 1;  // of its numbers, which become -1 to 1
};

data::Schema numbers(const Reading& reading) {
  data::Schema schema;
  size_t columns = 0;
  for (size_t each : reading.parties) columns += each;
  for (size_t j = 1; j <= columns; ++j)
    schema.columns.push_back(
        {.name = "f" + std::to_string(j), .low = reading.low, .high = reading.high});
  schema.target = {.column = "y", .levels = {"-1", "+1"}};
  return schema;
}

/// Numbers from low to high as -1 to 1, as LIBSVM scales gisette.
data::Rows scaled(const data::Rows& rows, const Reading& reading) {
  data::Rows result(rows.columns());
  result.reserve(rows.size());
  std::vector<double> z(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < z.size(); ++j)
      z[j] = 2 * (rows.row(i)[j] - reading.low) / (reading.high - reading.low) - 1;
    result.add(z, rows.label(i));
  }
  return result;
}

Result<data::AnyRows> read(const std::filesystem::path& file, const Reading& reading) {
  if (reading.sparse) {
    auto rows = TRY(data::read_libsvm_sparse(file, numbers(reading))).rows;
    return data::AnyRows(std::make_shared<const data::SparseRows>(std::move(rows)));
  }
  auto rows = TRY(data::read_libsvm(file, numbers(reading))).rows;
  return data::AnyRows(std::make_shared<const data::Rows>(scaled(rows, reading)));
}

/// Of a training file: "a9a" and "a9a.t", "x_train.libsvm" and "x_test.libsvm".
std::string test_name(const std::string& train) {
  const size_t at = train.find("_train");
  return at == train.npos ? train + ".t" : std::string(train).replace(at, 6, "_test");
}

/// The training file and, beside it, the one to test with.
Result<ColumnsApart> from_files(const FoundFile& found, const Reading& reading) {
  std::string name = found.path.filename().string();
  const bool packed = name.ends_with(".zst");
  if (packed) name.resize(name.size() - 4);
  const auto test = found.path.parent_path() / (test_name(name) + (packed ? ".zst" : ""));
  if (!std::filesystem::is_regular_file(test))
    return Error{Code::kInvalid,
                 "the test records are missing",
                 "Put that file beside the other.",
                 {.file = test.string()}};
  ColumnsApart result{.parties = reading.parties};
  result.train = TRY(read(found.path, reading));
  result.test = TRY(read(test, reading));
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

namespace {

const std::vector<size_t> kDigits = {2000, 2000, 1000};

}  // namespace

Result<SharedColumns> census_columns(const Study& study) {
  return kept(study, "census columns", [&]() -> Result<ColumnsApart> {
    if (study.data.empty()) return standin_census(study.seed, study.quick);
    return from_files(TRY(find_file(study.data, "census")), {.parties = {66, 57}, .sparse = true});
  });
}

Result<SharedColumns> digit_columns(const Study& study) {
  return kept(study, "digit columns", [&]() -> Result<ColumnsApart> {
    if (!study.data.empty())
      if (const auto found = find_file(study.data, "digits"))
        return from_files(*found, found->map->excerpt
                                      ? Reading{.parties = kDigits, .low = 0, .high = 999}
                                      : Reading{.parties = kDigits});
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
