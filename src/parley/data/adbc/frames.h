// Records on their way from a driver's process to the owner's: frames of at most a few MB, each a
// number of records, cell by cell. All numbers are little-endian.
//
//   frame:  4 bytes: length of what follows; 'R'; 4 bytes: records; their cells, record by record
//           or 'E' alone, after the last record; or 'X' and a text in JSON, after an error
//   cell:   0: no value; 1: 8 bytes of a real; 2: 8 bytes of an integer; 3: 4 bytes of length, text
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/result.h"
#include "parley/data/encode.h"

namespace parley::data {

inline constexpr size_t kFrameMax = size_t{1} << 30;

class FrameWriter {
 public:
  /// False: nobody takes it.
  using Send = std::function<bool(std::string_view frame)>;
  explicit FrameWriter(Send send) : send_(std::move(send)) {}

  void add(const Cell& cell);
  /// After a record's last cell. False: it could not be sent, or is larger than a frame.
  bool end_record();
  bool end();
  bool error(std::string_view json);

 private:
  bool flush();

  Send send_;
  std::string cells_{};
  uint32_t records_ = 0;
};

/// The cells of one frame of records, in order; texts are valid as long as its bytes.
class FrameReader {
 public:
  /// Of what follows 'R', or nothing if it is too short.
  static std::optional<FrameReader> of(std::string_view bytes);
  uint32_t records() const { return records_; }
  /// False: the frame ends within the cell, or it is no cell.
  bool next(Cell& cell);
  bool at_end() const { return rest_.empty(); }

 private:
  FrameReader(uint32_t records, std::string_view rest) : records_(records), rest_(rest) {}
  uint32_t records_;
  std::string_view rest_;
};

}  // namespace parley::data
