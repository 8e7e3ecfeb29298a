#include "parley/data/adbc/frames.h"

#include <cstring>

namespace parley::data {
namespace {

constexpr size_t kEnough = size_t{1} << 20;  // then a frame is sent

enum Tag : char { kNone, kReal, kInteger, kText };

template <class T>
void append(std::string& bytes, char tag, T value) {
  char room[1 + sizeof value];
  room[0] = tag;
  std::memcpy(room + 1, &value, sizeof value);
  bytes.append(room, sizeof room);
}

template <class T>
bool take(std::string_view& rest, T& value) {
  if (rest.size() < sizeof value) return false;
  std::memcpy(&value, rest.data(), sizeof value);
  rest.remove_prefix(sizeof value);
  return true;
}

std::string frame_of(char kind, std::string_view content) {
  std::string frame(4, 0);
  const auto length = static_cast<uint32_t>(1 + content.size());
  std::memcpy(frame.data(), &length, sizeof length);
  return frame.append(1, kind).append(content);
}

}  // namespace

void FrameWriter::add(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kReal:
      return append(cells_, kReal, cell.real);
    case Cell::Kind::kInteger:
      return append(cells_, kInteger, cell.integer);
    case Cell::Kind::kText:
      break;
  }
  if (cell.text.empty()) return void(cells_.append(1, kNone));
  append(cells_, kText, static_cast<uint32_t>(cell.text.size()));
  cells_.append(cell.text);
}

bool FrameWriter::end_record() {
  ++records_;
  return cells_.size() < kEnough || flush();
}

bool FrameWriter::flush() {
  if (records_ == 0) return true;
  std::string records(4, 0);
  std::memcpy(records.data(), &records_, sizeof records_);
  const bool fits = cells_.size() < kFrameMax - 64;
  const bool sent = fits && send_(frame_of('R', records.append(cells_)));
  cells_.clear();
  records_ = 0;
  return sent;
}

bool FrameWriter::end() { return flush() && send_(frame_of('E', "")); }
bool FrameWriter::error(std::string_view json) { return send_(frame_of('X', json)); }

std::optional<FrameReader> FrameReader::of(std::string_view bytes) {
  uint32_t records = 0;
  if (!take(bytes, records)) return std::nullopt;
  return FrameReader(records, bytes);
}

bool FrameReader::next(Cell& cell) {
  char tag = 0;
  uint32_t length = 0;
  if (!take(rest_, tag)) return false;
  switch (tag) {
    case kNone:
      cell = {};
      return true;
    case kReal:
      cell.kind = Cell::Kind::kReal;
      return take(rest_, cell.real);
    case kInteger:
      cell.kind = Cell::Kind::kInteger;
      return take(rest_, cell.integer);
    case kText:
      if (!take(rest_, length) || length > rest_.size()) return false;
      cell = Cell::of(rest_.substr(0, length));
      rest_.remove_prefix(length);
      return true;
    default:
      return false;
  }
}

}  // namespace parley::data
