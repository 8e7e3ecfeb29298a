#include "parley/data/arrow/column.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "parley/base/printable.h"
#include "parley/data/arrow/interface.h"

namespace parley::data {
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

Cell real(double value) { return std::isnan(value) ? Cell{} : Cell::of(value); }

Error contradicts(const ArrowSchema& schema, const char* what) {
  return {Code::kInvalid,
          what,
          "Give a stream that follows the Arrow C interface.",
          {.key = printable(schema.name == nullptr ? "" : schema.name)}};
}

/// The double that the shortest decimal of this number says.
double as_shown(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  double shown = 0;
  std::from_chars(digits, end.ptr, shown);
  return shown;
}

struct DecimalType {
  int scale, bytes;
};

/// Of a format "d:precision,scale" or "d:precision,scale,bits", up to 128 bits.
std::optional<DecimalType> decimal_of(std::string_view format) {
  if (!format.starts_with("d:")) return std::nullopt;
  int found[3] = {0, 0, 128};
  const char* at = format.data() + 2;
  const char* const end = format.data() + format.size();
  for (int i = 0; i < 3; ++i) {
    const auto read = std::from_chars(at, end, found[i]);
    if (read.ec != std::errc()) return std::nullopt;
    if (read.ptr == end && i > 0) break;
    if (read.ptr == end || *read.ptr != ',') return std::nullopt;
    at = read.ptr + 1;
  }
  const auto [precision, scale, bits] = found;
  const bool fits = bits == 32 || bits == 64 || bits == 128;
  if (!fits || precision < 1 || precision > 38 || scale < -38 || scale > 38) return std::nullopt;
  return DecimalType{scale, bits / 8};
}

/// Of a two's complement number of so many bytes, as PostgreSQL writes a numeric: 108429.42.
std::string_view decimal_text(const void* values, int64_t place, DecimalType type,
                              std::string& scratch) {
  std::array<uint8_t, 16> bytes{};
  const auto* from = static_cast<const uint8_t*>(values) + place * type.bytes;
  std::memcpy(bytes.data(), from, static_cast<size_t>(type.bytes));
  const bool negative = (from[type.bytes - 1] & 0x80) != 0;
  if (negative) std::fill(bytes.begin() + type.bytes, bytes.end(), 0xff);
  __extension__ unsigned __int128 size = 0;
  for (size_t i = bytes.size(); i-- > 0;) size = size << 8 | bytes[i];
  if (negative) size = ~size + 1;
  scratch.clear();
  for (; size != 0; size /= 10) scratch += static_cast<char>('0' + static_cast<int>(size % 10));
  const auto fraction = static_cast<size_t>(std::max(type.scale, 0));
  if (scratch.size() <= fraction) scratch.append(fraction + 1 - scratch.size(), '0');
  if (fraction > 0) scratch.insert(fraction, 1, '.');
  if (negative) scratch += '-';
  std::reverse(scratch.begin(), scratch.end());
  if (type.scale < 0) scratch.append(static_cast<size_t>(-type.scale), '0');
  return scratch;
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
  if (schema.format != nullptr && decimal_of(schema.format)) return Kind::kDecimal;
  return Kind::kNone;
}

bool ArrowColumn::can_read(const ArrowSchema& schema) {
  const Kind kind = kind_of(schema);
  if (schema.dictionary == nullptr) return kind != Kind::kNone;
  return kind >= Kind::kInt8 && kind <= Kind::kUint64 && schema.dictionary->dictionary == nullptr &&
         kind_of(*schema.dictionary) != Kind::kNone;
}

Result<ArrowColumn> ArrowColumn::make(const ArrowSchema& schema, const ArrowArray* array,
                                      int64_t offset, int64_t length, Style style) {
  ArrowColumn column;
  column.kind_ = kind_of(schema);
  column.style_ = style;
  if (column.kind_ == Kind::kDecimal) {
    const DecimalType type = *decimal_of(schema.format);
    column.scale_ = type.scale, column.decimal_bytes_ = type.bytes;
  }
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
  column.dictionary_ = std::make_shared<const ArrowColumn>(
      TRY(make(*schema.dictionary, words, 0, words->length, style)));
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
                   "Give a stream that follows the Arrow C interface."};
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

Cell ArrowColumn::value_at(int64_t place, std::string& scratch) const {
  const bool as_csv = style_ == Style::kAsCsv;
  const auto integer = [](int64_t value) { return Cell::of(value); };
  switch (kind_) {
    case Kind::kBool: {
      const bool set = (static_cast<const uint8_t*>(values_)[place / 8] >> (place % 8) & 1) != 0;
      return as_csv ? Cell::of(std::string_view(set ? "true" : "false")) : integer(set);
    }
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
      return value >> 63 ? Cell::of(static_cast<double>(value))
                         : integer(static_cast<int64_t>(value));
    }
    case Kind::kHalf:
      return real(half_at(values_, place));
    case Kind::kFloat: {
      const auto value = number_at<float>(values_, place);
      return real(as_csv && std::isfinite(value) ? as_shown(value) : value);
    }
    case Kind::kDouble:
      return real(number_at<double>(values_, place));
    case Kind::kText:
    case Kind::kLargeText:
    case Kind::kTextView:
      return Cell::of(text_at(place));
    case Kind::kDecimal:
      return Cell::of(decimal_text(values_, place, {scale_, decimal_bytes_}, scratch));
    case Kind::kNull:
    case Kind::kNone:
      break;
  }
  return {};
}

Cell ArrowColumn::at(int64_t row, std::string& scratch) const {
  const int64_t place = offset_ + row;
  if (kind_ == Kind::kNull || !is_valid(place)) return {};
  const Cell cell = value_at(place, scratch);
  if (!dictionary_) return cell;
  const bool inside =
      cell.kind == Cell::Kind::kInteger && cell.integer >= 0 && cell.integer < words_;
  return inside ? dictionary_->at(cell.integer, scratch) : Cell{};
}

}  // namespace parley::data
