#include "parley/data/sources/postgres_copy.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::data {
namespace {

using std::string_view_literals::operator""sv;

constexpr auto kSignature = "PGCOPY\n\xFF\r\n\0"sv;

/// An integer in network order at the start of `bytes`, which is cut off.
template <class T>
std::optional<T> take_integer(std::string_view& bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  std::make_unsigned_t<T> value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<std::make_unsigned_t<T>>(static_cast<uint64_t>(value) << 8 |
                                                 static_cast<uint8_t>(bytes[i]));
  bytes.remove_prefix(sizeof(T));
  return static_cast<T>(value);
}

/// The whole of `bytes` as an integer.
template <class T>
std::optional<T> integer(std::string_view bytes) {
  return bytes.size() == sizeof(T) ? take_integer<T>(bytes) : std::nullopt;
}

template <class T>
std::optional<Cell> integer_cell(std::string_view bytes) {
  const auto value = integer<T>(bytes);
  if (!value) return std::nullopt;
  return Cell::of(int64_t{*value});
}

/// The number that the shortest text of a float stands for: 0.1, not 0.10000000149.
double widened(float value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return parse_number({text, static_cast<size_t>(end - text)}).value_or(value);
}

Error not_copy(std::string what) {
  return {Code::kFailed, "the database sent " + std::move(what),
          "Is this a PostgreSQL server of version 9.0 or later?"};
}

}  // namespace

bool is_readable(uint32_t type) {
  switch (static_cast<PgType>(type)) {
    case PgType::kBool:
    case PgType::kInt8:
    case PgType::kInt2:
    case PgType::kInt4:
    case PgType::kText:
    case PgType::kFloat4:
    case PgType::kFloat8:
    case PgType::kChar:
    case PgType::kVarchar:
    case PgType::kNumeric:
      return true;
  }
  return false;
}

std::optional<Cell> cell_of(PgType type, std::string_view bytes, std::string& scratch) {
  switch (type) {
    case PgType::kBool:
      if (bytes.size() != 1) return std::nullopt;
      return Cell::of(std::string_view(bytes[0] ? "t" : "f"));
    case PgType::kInt2:
      return integer_cell<int16_t>(bytes);
    case PgType::kInt4:
      return integer_cell<int32_t>(bytes);
    case PgType::kInt8:
      return integer_cell<int64_t>(bytes);
    case PgType::kFloat4: {
      const auto bits = integer<uint32_t>(bytes);
      if (!bits) return std::nullopt;
      return Cell::of(widened(std::bit_cast<float>(*bits)));
    }
    case PgType::kFloat8: {
      const auto bits = integer<uint64_t>(bytes);
      if (!bits) return std::nullopt;
      return Cell::of(std::bit_cast<double>(*bits));
    }
    case PgType::kNumeric: {
      auto text = numeric_text(bytes);
      if (!text) return std::nullopt;
      scratch = *std::move(text);
      return Cell::of(scratch);
    }
    case PgType::kText:
    case PgType::kChar:
    case PgType::kVarchar:
      return Cell::of(bytes);
  }
  return std::nullopt;
}

std::optional<std::string> numeric_text(std::string_view bytes) {
  constexpr uint16_t kNegative = 0x4000, kNaN = 0xC000, kInfinity = 0xD000, kMinusInfinity = 0xF000;
  const auto count = take_integer<int16_t>(bytes);
  const auto weight = take_integer<int16_t>(bytes);  // of the first digit, in powers of 10000
  const auto sign = take_integer<uint16_t>(bytes);
  const auto scale = take_integer<int16_t>(bytes);  // decimals shown
  if (!scale || *count < 0 || *scale < 0 || bytes.size() != 2 * static_cast<size_t>(*count))
    return std::nullopt;
  if (*sign == kNaN) return "NaN";
  if (*sign == kInfinity || *sign == kMinusInfinity) return "Infinity";
  const auto digits = [&](int place) -> std::string {  // four, of 10000^place
    const int i = *weight - place;
    if (i < 0 || i >= *count) return "0000";
    std::string_view at = bytes.substr(2 * static_cast<size_t>(i));
    const std::string text = std::to_string(10000 + (*take_integer<uint16_t>(at)) % 10000);
    return text.substr(1);
  };
  std::string text;
  for (int place = *weight; place >= 0; --place) text += digits(place);
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty()) text = "0";
  std::string decimals;
  for (int place = -1; decimals.size() < static_cast<size_t>(*scale); --place)
    decimals += digits(place);
  decimals.resize(static_cast<size_t>(*scale));
  if (!decimals.empty()) text += "." + decimals;
  return (*sign == kNegative ? "-" : "") + text;
}

Result<bool> CopyRows::take(std::string_view message) {
  if (!started_) {
    if (!message.starts_with(kSignature)) return not_copy("no binary COPY data");
    message.remove_prefix(kSignature.size());
    const auto flags = take_integer<int32_t>(message);
    const auto extension = take_integer<int32_t>(message);
    if (!extension || *flags != 0 || *extension != 0) return not_copy("an unknown COPY header");
    started_ = true;
    if (message.empty()) return false;  // Rows follow in messages of their own.
  }
  const auto count = take_integer<int16_t>(message);
  if (count == int16_t{-1}) return false;
  if (!count || static_cast<size_t>(*count) != fields_.size())
    return not_copy("a row with another number of fields");
  for (auto& field : fields_) {
    const auto size = take_integer<int32_t>(message);
    if (!size || *size < -1 || (*size > 0 && static_cast<size_t>(*size) > message.size()))
      return not_copy("a row that is cut off");
    field = *size < 0 ? std::nullopt : std::optional(message.substr(0, static_cast<size_t>(*size)));
    if (*size > 0) message.remove_prefix(static_cast<size_t>(*size));
  }
  return true;
}

}  // namespace parley::data
