#include "parley/api/c/arrow_column.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "parley/api/c/arrow.h"
#include "parley/base/printable.h"

namespace parley::api {
namespace {

template <class T>
T number_at(const void* values, int64_t place) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + place * int64_t{sizeof(T)}, sizeof value);
  return value;
}

double half_at(const void* values, int64_t place) {
  const auto bits = number_at<uint16_t>(values, place);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

data::Cell real(double value) { return std::isnan(value) ? data::Cell{} : data::Cell::of(value); }

Error contradicts(const ArrowSchema& schema, const char* what) {
  return {Code::kInvalid,
          what,
          "Give a stream as the Arrow C interface has them.",
          {.key = printable(schema.name == nullptr ? "" : schema.name)}};
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 64;

}  // namespace

ArrowColumn::Kind ArrowColumn::kind_of(const ArrowSchema& schema) {
  constexpr std::array<std::pair<std::string_view, Kind>, 16> kKinds = {{{"n", Kind::kNull},
                                                                         {"b", Kind::kBool},
                                                                         {"c", Kind::kInt8},
                                                                         {"C", Kind::kUint8},
                                                                         {"s", Kind::kInt16},
                                                                         {"S", Kind::kUint16},
                                                                         {"i", Kind::kInt32},
                                                                         {"I", Kind::kUint32},
                                                                         {"l", Kind::kInt64},
                                                                         {"L", Kind::kUint64},
                                                                         {"e", Kind::kHalf},
                                                                         {"f", Kind::kFloat},
                                                                         {"g", Kind::kDouble},
                                                                         {"u", Kind::kText},
                                                                         {"U", Kind::kLargeText},
                                                                         {"vu", Kind::kTextView}}};
  for (const auto& [format, kind] : kKinds)
    if (schema.format != nullptr && format == schema.format) return kind;
  return Kind::kNone;
}

bool ArrowColumn::can_read(const ArrowSchema& schema) {
  const Kind kind = kind_of(schema);
  if (schema.dictionary == nullptr) return kind != Kind::kNone;
  return kind >= Kind::kInt8 && kind <= Kind::kUint64 && schema.dictionary->dictionary == nullptr &&
         kind_of(*schema.dictionary) != Kind::kNone;
}

Result<ArrowColumn> ArrowColumn::make(const ArrowSchema& schema, const ArrowArray* array,
                                      int64_t offset, int64_t length) {
  ArrowColumn column;
  column.kind_ = kind_of(schema);
  if (array == nullptr || array->release == nullptr || array->length < 0 || array->offset < 0 ||
      array->offset > kMost || offset > kMost || array->length > kMost ||
      length > array->length - offset)
    return contradicts(schema, "the column is shorter than its batch");
  column.offset_ = offset + array->offset;
  if (column.kind_ == Kind::kNull) return column;
  const bool texts = column.kind_ == Kind::kText || column.kind_ == Kind::kLargeText;
  const bool views = column.kind_ == Kind::kTextView;
  if (array->n_buffers < (texts || views ? 3 : 2) || array->buffers == nullptr)
    return contradicts(schema, "the column lacks buffers");
  column.validity_ = static_cast<const uint8_t*>(array->buffers[0]);
  column.values_ = array->buffers[1];
  column.texts_ = array->buffers + 2;
  column.variadic_ = views ? array->n_buffers - 3 : 0;
  column.sizes_ = views ? array->buffers[array->n_buffers - 1] : nullptr;
  if (length > 0 && column.values_ == nullptr)
    return contradicts(schema, "the column lacks its values");
  TRY(check_texts(column, length));
  if (schema.dictionary == nullptr) return column;
  const ArrowArray* words = array->dictionary;
  if (words == nullptr) return contradicts(schema, "the column lacks its dictionary");
  column.words_ = words->length;
  column.dictionary_ =
      std::make_shared<const ArrowColumn>(TRY(make(*schema.dictionary, words, 0, words->length)));
  return column;
}

/// Texts must lie one behind the other.
Result<void> ArrowColumn::check_texts(const ArrowColumn& column, int64_t length) {
  if (column.kind_ != Kind::kText && column.kind_ != Kind::kLargeText) return {};
  const auto begin_of = [&](int64_t i) -> int64_t {
    return column.kind_ == Kind::kText ? number_at<int32_t>(column.values_, column.offset_ + i)
                                       : number_at<int64_t>(column.values_, column.offset_ + i);
  };
  for (int64_t i = 0; i < length; ++i)
    if (begin_of(i) < 0 || begin_of(i) > begin_of(i + 1) ||
        (begin_of(i + 1) > 0 && column.texts_[0] == nullptr))
      return Error{Code::kInvalid, "the texts of a column overlap",
                   "Give a stream as the Arrow C interface has them."};
  return {};
}

bool ArrowColumn::is_valid(int64_t place) const {
  return validity_ == nullptr || (validity_[place / 8] >> (place % 8) & 1) != 0;
}

std::string_view ArrowColumn::text_at(int64_t place) const {
  const auto slice = [&](int64_t begin, int64_t end) {
    return std::string_view(static_cast<const char*>(texts_[0]) + begin,
                            static_cast<size_t>(end - begin));
  };
  if (kind_ == Kind::kText)
    return slice(number_at<int32_t>(values_, place), number_at<int32_t>(values_, place + 1));
  if (kind_ == Kind::kLargeText)
    return slice(number_at<int64_t>(values_, place), number_at<int64_t>(values_, place + 1));
  const char* view = static_cast<const char*>(values_) + 16 * place;
  const auto length = number_at<int32_t>(view, 0);
  if (length <= 12) return {view + 4, static_cast<size_t>(length < 0 ? 0 : length)};
  const auto buffer = number_at<int32_t>(view, 2), begin = number_at<int32_t>(view, 3);
  if (buffer < 0 || buffer >= variadic_ || begin < 0 || texts_[buffer] == nullptr ||
      sizes_ == nullptr || int64_t{begin} + length > number_at<int64_t>(sizes_, buffer))
    return {};
  return {static_cast<const char*>(texts_[buffer]) + begin, static_cast<size_t>(length)};
}

data::Cell ArrowColumn::value_at(int64_t place) const {
  const auto integer = [](int64_t value) { return data::Cell::of(value); };
  switch (kind_) {
    case Kind::kBool:
      return integer(static_cast<const uint8_t*>(values_)[place / 8] >> (place % 8) & 1);
    case Kind::kInt8:
      return integer(number_at<int8_t>(values_, place));
    case Kind::kUint8:
      return integer(number_at<uint8_t>(values_, place));
    case Kind::kInt16:
      return integer(number_at<int16_t>(values_, place));
    case Kind::kUint16:
      return integer(number_at<uint16_t>(values_, place));
    case Kind::kInt32:
      return integer(number_at<int32_t>(values_, place));
    case Kind::kUint32:
      return integer(number_at<uint32_t>(values_, place));
    case Kind::kInt64:
      return integer(number_at<int64_t>(values_, place));
    case Kind::kUint64: {
      const auto value = number_at<uint64_t>(values_, place);
      return value >> 63 ? data::Cell::of(static_cast<double>(value))
                         : integer(static_cast<int64_t>(value));
    }
    case Kind::kHalf:
      return real(half_at(values_, place));
    case Kind::kFloat:
      return real(number_at<float>(values_, place));
    case Kind::kDouble:
      return real(number_at<double>(values_, place));
    case Kind::kText:
    case Kind::kLargeText:
    case Kind::kTextView:
      return data::Cell::of(text_at(place));
    case Kind::kNull:
    case Kind::kNone:
      break;
  }
  return {};
}

data::Cell ArrowColumn::at(int64_t row) const {
  const int64_t place = offset_ + row;
  if (kind_ == Kind::kNull || !is_valid(place)) return {};
  const data::Cell cell = value_at(place);
  if (!dictionary_) return cell;
  const bool inside =
      cell.kind == data::Cell::Kind::kInteger && cell.integer >= 0 && cell.integer < words_;
  return inside ? dictionary_->at(cell.integer) : data::Cell{};
}

}  // namespace parley::api
