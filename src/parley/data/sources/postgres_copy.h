// The binary COPY format of PostgreSQL (its manual, "COPY", "Binary Format") and the values in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/encode.h"

namespace parley::data {

/// Types of columns, by their numbers in pg_type, which never change.
enum class PgType : uint32_t {
  kBool = 16,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kFloat4 = 700,
  kFloat8 = 701,
  kChar = 1042,
  kVarchar = 1043,
  kNumeric = 1700,
};

/// Whether a column of this type can be read.
bool is_readable(uint32_t type);

/// A value as COPY ... (FORMAT csv) would write it, or nothing if the bytes are not of the type.
/// `scratch` holds texts that are made.
std::optional<Cell> cell_of(PgType type, std::string_view bytes, std::string& scratch);

/// The decimal text of a numeric, for example 108429.42.
std::optional<std::string> numeric_text(std::string_view bytes);

/// Splits what COPY sends into rows of fields.
class CopyRows {
 public:
  explicit CopyRows(size_t columns) : fields_(columns) {}

  /// One message of the protocol, which holds one row; the first one has the header, with or
  /// without a row. True if it had a row.
  Result<bool> take(std::string_view message);
  /// Nothing stands for NULL. Valid as long as the message.
  const std::vector<std::optional<std::string_view>>& fields() const { return fields_; }

 private:
  std::vector<std::optional<std::string_view>> fields_;
  bool started_ = false;
};

}  // namespace parley::data
