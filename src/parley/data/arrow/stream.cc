#include "parley/data/arrow/stream.h"

#include <numeric>
#include <string_view>
#include <utility>

#include "parley/base/printable.h"

namespace parley::data {
namespace {

Error not_readable(const std::string& what) {
  return {Code::kInvalid, what,
          "Give a stream of record batches that follows the Arrow C interface."};
}

Error producer_failed() {
  return {Code::kFailed, "the producer of the Arrow stream reported an error",
          "Read the stream with the library that made it to see why."};
}

/// Batches that are kept.
class Batches final : public Cells {
 public:
  explicit Batches(std::vector<std::string> names) : names_(std::move(names)) {}

  void take(ArrowBatch batch) {
    if (batch.rows == 0) return;
    const uint64_t begin = rows_;
    rows_ += static_cast<uint64_t>(batch.rows);
    parts_.push_back({begin, rows_, std::move(batch)});
  }

  const std::vector<std::string>& names() const override { return names_; }
  uint64_t rows() const override { return rows_; }
  std::unique_ptr<CellCursor> cursor() const override { return std::make_unique<Cursor>(*this); }

 private:
  struct Part {
    uint64_t begin, end;
    ArrowBatch batch;
  };

  class Cursor final : public CellCursor {
   public:
    explicit Cursor(const Batches& batches) : batches_(batches), scratch_(batches.names_.size()) {}
    void seek(uint64_t row) override {
      while (row >= batches_.parts_[part_].end) ++part_;
      while (row < batches_.parts_[part_].begin) --part_;
      at_ = static_cast<int64_t>(row - batches_.parts_[part_].begin);
    }
    Cell at(size_t column) override {
      return batches_.parts_[part_].batch.columns[column].at(at_, scratch_[column]);
    }

   private:
    const Batches& batches_;
    std::vector<std::string> scratch_;
    size_t part_ = 0;
    int64_t at_ = 0;
  };

  std::vector<std::string> names_;
  std::vector<Part> parts_{};
  uint64_t rows_ = 0;
};

}  // namespace

Result<ArrowStream> ArrowStream::open(ArrowArrayStream* given, ArrowColumn::Style style) {
  if (given == nullptr || given->release == nullptr)
    return not_readable("the stream has been released already");
  ArrowStream stream(Owned<ArrowArrayStream>(given), style);
  if (stream.stream_->get_schema == nullptr || stream.stream_->get_next == nullptr)
    return not_readable("the stream has no functions to read it by");
  if (stream.stream_->get_schema(stream.stream_.get(), stream.schema_.get()) != 0)
    return producer_failed();
  TRY(stream.take_names());
  return stream;
}

Result<void> ArrowStream::take_names() {
  const ArrowSchema& root = *schema_;
  if (root.format == nullptr || std::string_view(root.format) != "+s")
    return not_readable("the stream is not one of record batches");
  if (root.n_children < 0 || (root.n_children > 0 && root.children == nullptr))
    return not_readable("the stream's schema announces columns that it does not have");
  for (int64_t j = 0; j < root.n_children; ++j) {
    const ArrowSchema* column = root.children[j];
    if (column == nullptr || column->format == nullptr)
      return not_readable("the stream's schema lacks a column's type");
    names_.emplace_back(column->name == nullptr ? "" : column->name);
  }
  return {};
}

Result<void> ArrowStream::check_type(size_t column) const {
  const ArrowSchema& schema = *schema_->children[column];
  if (ArrowColumn::can_read(schema)) return {};
  return Error{Code::kInvalid,
               "is of a type that is neither number nor text: " +
                   printable(std::string_view(schema.format).substr(0, 40)),
               "Convert or leave out the column.",
               {.key = printable(names_[column])}};
}

Result<std::optional<ArrowBatch>> ArrowStream::next(const std::vector<size_t>& columns) {
  ArrowBatch batch;
  if (stream_->get_next(stream_.get(), batch.array.get()) != 0) return producer_failed();
  if (batch.array->release == nullptr) return std::optional<ArrowBatch>();  // the end
  if (batch.array->length < 0 || batch.array->offset < 0 ||
      batch.array->n_children != schema_->n_children ||
      (batch.array->n_children > 0 && batch.array->children == nullptr))
    return not_readable("a batch does not have the columns of its schema");
  batch.rows = batch.array->length;
  for (const size_t j : columns)
    batch.columns.push_back(TRY(ArrowColumn::make(*schema_->children[j], batch.array->children[j],
                                                  batch.array->offset, batch.rows, style_)));
  return std::optional<ArrowBatch>(std::move(batch));
}

Result<std::shared_ptr<const Cells>> read_stream(ArrowArrayStream* given) {
  auto stream = TRY(ArrowStream::open(given, ArrowColumn::Style::kValues));
  std::vector<size_t> all(stream.names().size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (const size_t column : all) TRY(stream.check_type(column));
  auto batches = std::make_shared<Batches>(stream.names());
  while (auto batch = TRY(stream.next(all))) batches->take(*std::move(batch));
  return std::shared_ptr<const Cells>(std::move(batches));
}

}  // namespace parley::data
