// No LIBSVM file crashes the reader, and sparse and dense rows are the same.
#include <algorithm>
#include <cmath>

#include "parley/data/readers/libsvm.h"
#include "support/memory_file.h"
#include "support/texts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const test::MemoryFile file(data, size);
  data::Schema schema = test::numbers(9);
  schema.bias = size % 2 == 1;
  if (size % 3 == 0) schema.target = {.column = "y", .low = -5, .high = 5, .scale = 2};
  const data::LibsvmOptions options{.unpacked_bytes_max = 1 << 22};
  const auto dense = data::read_libsvm(file.path(), schema, options);
  const auto sparse = data::read_libsvm_sparse(file.path(), schema, options);
  check(bool(dense) == bool(sparse));
  if (!dense) {
    check(!dense.error().where.file.empty() && dense.error().what == sparse.error().what);
    return 0;
  }
  const data::Rows same = sparse->rows.dense();
  check(same.size() == dense->rows.size());
  for (size_t i = 0; i < same.size(); ++i) {
    check(std::isfinite(same.label(i)) && same.label(i) == dense->rows.label(i));
    check(std::ranges::equal(same.row(i), dense->rows.row(i)));
  }
  return 0;
}
