#include "support/arrow_streams.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "parley/data/arrow/interface.h"

namespace hostile {
namespace {

constexpr int64_t kRows = 16;

/// Everything of one stream, alive until it and its batches are released.
struct Stream {
  std::vector<std::vector<char>> memory{};
  std::string format, name;
  std::vector<const void*> buffers{};
  ArrowSchema schema{}, column{}, words{};
  ArrowSchema* columns[1] = {&column};
  ArrowArray values{}, dictionary{};
  ArrowArray* children[1] = {&values};
  int batches = 1;
  bool fails = false;

  char* bytes(size_t size) { return memory.emplace_back(size).data(); }
};
using Shared = std::shared_ptr<Stream>;

Shared& of(void* data) { return *static_cast<Shared*>(data); }

template <class T>
void release(T* what) {
  delete static_cast<Shared*>(what->private_data);
  what->release = nullptr;
}
template <class T>
void nothing_to_release(T* what) {
  what->release = nullptr;
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  const Shared& shared = of(stream->private_data);
  *out = shared->schema;
  out->release = release<ArrowSchema>;
  out->private_data = new Shared(shared);
  return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  const Shared& shared = of(stream->private_data);
  std::memset(out, 0, sizeof *out);
  if (shared->fails) return EIO;
  if (shared->batches-- <= 0) return 0;
  out->length = kRows;
  out->n_children = 1;
  out->children = shared->children;
  out->release = release<ArrowArray>;
  out->private_data = new Shared(shared);
  return 0;
}

/// Values of the format, with room for kRows of them.
void fill(Random& random, Stream& s) {
  char* values = s.bytes(16 * (kRows + 1));
  for (int i = 0; i <= kRows; ++i) {
    if (s.format == "u") {
      const auto offset = static_cast<int32_t>(i * 2);
      std::memcpy(values + 4 * i, &offset, sizeof offset);
    } else if (s.format == "U") {
      const auto offset = static_cast<int64_t>(i * 2);
      std::memcpy(values + 8 * i, &offset, sizeof offset);
    } else if (s.format == "vu") {
      const int32_t view[4] = {random.below(4) == 0 ? 20 : 3, 0x34333231,
                               static_cast<int32_t>(random.below(3)) - 1,
                               static_cast<int32_t>(random.below(40))};
      std::memcpy(values + 16 * i, view, sizeof view);
    } else {
      const double number = random.number();
      std::memcpy(values + 8 * i, &number, sizeof number);
    }
  }
  s.buffers = {random.below(2) ? s.bytes(8) : nullptr, values};
  if (s.format == "u" || s.format == "U") s.buffers.push_back(s.bytes(64));
  if (s.format == "vu") {
    const int64_t size = 32;
    s.buffers.push_back(s.bytes(size));
    char* sizes = s.bytes(8);
    std::memcpy(sizes, &size, sizeof size);
    s.buffers.push_back(sizes);
  }
}

/// One thing that is not as it should be, of those that a reader can see.
void spoil(Random& random, Stream& s) {
  switch (random.below(12)) {
    case 0:
      s.values.length = kRows - 1;
      break;
    case 1:
      s.values.length = -5;
      break;
    case 2:
      s.values.offset = std::numeric_limits<int64_t>::max();
      break;
    case 3:
      s.values.n_buffers = 1;
      break;
    case 4:
      s.buffers[1] = nullptr;
      break;
    case 5:
      s.children[0] = nullptr;
      break;
    case 6:
      s.values.release = nullptr;
      break;
    case 7:
      s.schema.format = "+l";
      break;
    case 8:
      s.schema.n_children = 2;
      s.schema.children = nullptr;
      break;
    case 9:
      s.column.format = nullptr;
      break;
    case 10:
      s.fails = true;
      break;
    default:
      s.column.dictionary = &s.words;  // and the array has none
  }
}

}  // namespace

uint64_t Random::word() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::number() {
  constexpr double kOdd[] = {0,
                             -0.0,
                             1e308,
                             -1e308,
                             5e-324,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()};
  if (below(6) == 0) return kOdd[below(std::size(kOdd))];
  return static_cast<double>(word() >> 11) * 0x1p-52 - 1;
}

int add_stream(Random& random, parley_tables* tables, const char* table, char** error) {
  constexpr const char* kFormats[] = {"g",  "f", "l", "i", "c",    "b",      "u",  "U",
                                      "vu", "e", "L", "n", "tsu:", "d:10,2", "+l", "zz"};
  constexpr const char* kNames[] = {"x0", "x1", "y", "\xff", ""};
  auto shared = std::make_shared<Stream>();
  Stream& s = *shared;
  s.format = kFormats[random.below(std::size(kFormats))];
  s.name = kNames[random.below(std::size(kNames))];
  s.schema.format = "+s";
  s.schema.n_children = 1;
  s.schema.children = s.columns;
  s.column.format = s.format.c_str();
  s.column.name = random.below(20) ? s.name.c_str() : nullptr;
  s.words.format = "u";
  fill(random, s);
  s.values.length = kRows;
  s.values.n_buffers = static_cast<int64_t>(s.buffers.size());
  s.values.release = nothing_to_release<ArrowArray>;
  s.batches = static_cast<int>(random.below(4));
  if (random.below(3) == 0) spoil(random, s);
  s.values.buffers = s.buffers.data();
  ArrowArrayStream stream{get_schema, get_next, nullptr, release<ArrowArrayStream>,
                          new Shared(shared)};
  return parley_tables_add_stream(tables, table, &stream, error);
}

}  // namespace hostile
