// No CSV file crashes the reader, gives a row that is not finite, or an error without a place.
#include <cmath>

#include "parley/data/readers/csv.h"
#include "support/memory_file.h"

namespace {

using namespace parley;
using data::Column;

data::Schema schema() {
  return {.columns = {{.name = "a", .low = -100, .high = 100, .missing = 7},
                      {.name = "b", .low = 0, .high = 1e9, .missing = 1, .log = true, .strip = "$"},
                      {.name = "c",
                       .kind = Column::Kind::kCategory,
                       .levels = {"x", "y"},
                       .other = true,
                       .strip = "+"},
                      {.name = "d",
                       .kind = Column::Kind::kCategory,
                       .levels = {"1", "2"},
                       .encode = Column::Encode::kInteger}},
          .target = {.column = "y", .low = -50, .high = 50, .scale = 10, .strip = "+"},
          .bias = true};
}

/// The first byte chooses how the file is read.
data::CsvOptions options(uint8_t choice) {
  data::CsvOptions options{.unpacked_bytes_max = 1 << 22};
  if (choice & 1) options.separator = ';', options.decimal = ',';
  if (choice & 2) options.labels = false;
  if (choice & 4) options.header = {"a", "b", "c", "d", "y"};
  if (choice & 8) options.select.where = data::RowFilter{"c", {"x", ""}, (choice & 16) != 0};
  if (choice & 32) options.select.unit = data::UnitCap{"d", 2};
  if (choice & 64) options.select.columns = {{"a", "b"}};
  if (choice & 128) options.select.rows = 3;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const test::MemoryFile file(data + 1, size - 1);
  const auto read = data::read_csv_counted(file.path(), schema(), options(data[0]));
  if (!read) {
    check(!read.error().where.file.empty() && !read.error().what.empty());
    return 0;
  }
  check(read->rows.size() == read->counts.rows);
  for (size_t i = 0; i < read->rows.size(); ++i) {
    check(std::isfinite(read->rows.label(i)));
    for (double z : read->rows.row(i)) check(std::isfinite(z));
  }
  return 0;
}
