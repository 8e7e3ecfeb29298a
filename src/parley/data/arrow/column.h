// One column of one record batch, as cells.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "parley/base/result.h"
#include "parley/data/encode.h"

struct ArrowSchema;
struct ArrowArray;

namespace parley::data {

class ArrowColumn {
 public:
  /// kValues: a boolean is 0 or 1, a single-precision number itself. kAsCsv: what a CSV file of the
  /// same table shows, true and false and the shortest decimal that reads back, as in rows that
  /// come from files and databases.
  enum class Style { kValues, kAsCsv };

  /// Numbers, decimals, booleans, texts, nulls, and dictionaries of these.
  static bool can_read(const ArrowSchema& schema);

  /// Records `offset` to `offset + length` of the array. kInvalid if it has no room for them, or
  /// its parts are not there. The array must outlive it.
  static Result<ArrowColumn> make(const ArrowSchema& schema, const ArrowArray* array,
                                  int64_t offset, int64_t length, Style style);

  /// No value is the empty text. `scratch` holds texts that are made.
  Cell at(int64_t row, std::string& scratch) const;

 private:
  enum class Kind {
    kNull,
    kBool,
    kInt8,
    kUint8,
    kInt16,
    kUint16,
    kInt32,
    kUint32,
    kInt64,
    kUint64,
    kHalf,
    kFloat,
    kDouble,
    kText,
    kLargeText,
    kTextView,
    kDecimal,
    kNone
  };
  static Kind kind_of(const ArrowSchema& schema);
  static Result<void> check_texts(const ArrowColumn& column, int64_t length);
  bool is_valid(int64_t place) const;
  Cell value_at(int64_t place, std::string& scratch) const;
  std::string_view text_at(int64_t place) const;

  Kind kind_ = Kind::kNone;
  Style style_ = Style::kValues;
  int scale_ = 0, decimal_bytes_ = 0;  // of decimals
  int64_t offset_ = 0;
  int64_t variadic_ = 0;  // of views: buffers that hold texts
  const uint8_t* validity_ = nullptr;
  const void* values_ = nullptr;        // or offsets of texts, or views
  const void* const* texts_ = nullptr;  // where texts lie
  const void* sizes_ = nullptr;         // of views: of these buffers
  std::shared_ptr<const ArrowColumn> dictionary_{};
  int64_t words_ = 0;  // in it
};

}  // namespace parley::data
