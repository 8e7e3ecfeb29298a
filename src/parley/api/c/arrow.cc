#include "parley/api/c/arrow.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "parley/api/c/arrow_column.h"
#include "parley/base/printable.h"

namespace parley::api {
namespace {

/// A struct of the interface, released when it is no longer needed.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* from) : value_(*from) { from->release = nullptr; }
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  T* get() { return &value_; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_{};
};

Error not_readable(const std::string& what, const std::string& key = "") {
  return {Code::kInvalid,
          what,
          "Give a stream of record batches as the Arrow C interface has them.",
          {.key = printable(key)}};
}

/// Batches, and how the columns of each are read.
class Batches final : public data::Cells {
 public:
  explicit Batches(Owned<ArrowSchema> schema) : schema_(std::move(schema)) {}

  Result<void> take_names() {
    const ArrowSchema& root = *schema_;
    if (root.format == nullptr || std::string_view(root.format) != "+s")
      return not_readable("the stream is not one of record batches");
    if (root.n_children < 0 || (root.n_children > 0 && root.children == nullptr))
      return not_readable("the stream's schema has no columns where it says so");
    for (int64_t j = 0; j < root.n_children; ++j) {
      const ArrowSchema* column = root.children[j];
      if (column == nullptr || column->format == nullptr)
        return not_readable("the stream's schema lacks a column's type");
      names_.emplace_back(column->name == nullptr ? "" : column->name);
      TRY(check_format(*column));
    }
    return {};
  }

  Result<void> take(Owned<ArrowArray> batch) {
    if (batch->length < 0 || batch->offset < 0 || batch->n_children != schema_->n_children ||
        (batch->n_children > 0 && batch->children == nullptr))
      return not_readable("a batch does not have the columns of its schema");
    std::vector<ArrowColumn> columns;
    for (int64_t j = 0; j < batch->n_children; ++j)
      columns.push_back(TRY(ArrowColumn::make(*schema_->children[j], batch->children[j],
                                              batch->offset, batch->length)));
    if (batch->length == 0) return {};
    const auto length = static_cast<uint64_t>(batch->length);
    parts_.push_back({rows_, rows_ + length, std::move(columns), std::move(batch)});
    rows_ += length;
    return {};
  }

  const std::vector<std::string>& names() const override { return names_; }
  uint64_t rows() const override { return rows_; }
  std::unique_ptr<data::CellCursor> cursor() const override {
    return std::make_unique<Cursor>(*this);
  }

 private:
  struct Part {
    uint64_t begin, end;
    std::vector<ArrowColumn> columns;
    Owned<ArrowArray> batch;
  };

  class Cursor final : public data::CellCursor {
   public:
    explicit Cursor(const Batches& batches) : batches_(batches) {}
    void seek(uint64_t row) override {
      while (row >= batches_.parts_[part_].end) ++part_;
      while (row < batches_.parts_[part_].begin) --part_;
      at_ = static_cast<int64_t>(row - batches_.parts_[part_].begin);
    }
    data::Cell at(size_t column) override { return batches_.parts_[part_].columns[column].at(at_); }

   private:
    const Batches& batches_;
    size_t part_ = 0;
    int64_t at_ = 0;
  };

  Result<void> check_format(const ArrowSchema& column) const {
    if (ArrowColumn::can_read(column)) return {};
    return Error{Code::kInvalid,
                 "is of a type that is neither number nor text: " +
                     printable(std::string_view(column.format).substr(0, 40)),
                 "Convert or leave out the column.",
                 {.key = printable(names_.back())}};
  }

  Owned<ArrowSchema> schema_;
  std::vector<std::string> names_{};
  std::vector<Part> parts_{};
  uint64_t rows_ = 0;
};

/// What the producer says, which may name a private value: only that it failed is told.
Error producer_failed() {
  return {Code::kFailed, "the producer of the Arrow stream reported an error",
          "Read the stream with the library that made it to see why."};
}

}  // namespace

Result<std::shared_ptr<const data::Cells>> read_stream(ArrowArrayStream* given) {
  if (given == nullptr || given->release == nullptr)
    return not_readable("the stream has been released already");
  Owned<ArrowArrayStream> stream(given);
  if (stream->get_schema == nullptr || stream->get_next == nullptr)
    return not_readable("the stream has no functions to read it by");
  Owned<ArrowSchema> schema;
  if (stream->get_schema(stream.get(), schema.get()) != 0) return producer_failed();
  auto batches = std::make_shared<Batches>(std::move(schema));
  TRY(batches->take_names());
  for (;;) {
    Owned<ArrowArray> batch;
    if (stream->get_next(stream.get(), batch.get()) != 0) return producer_failed();
    if (batch->release == nullptr) break;  // the end
    TRY(batches->take(std::move(batch)));
  }
  return std::shared_ptr<const data::Cells>(std::move(batches));
}

}  // namespace parley::api
