// Record batches of another library, by the Arrow C data and stream interfaces
// (https://arrow.apache.org/docs/format/CStreamInterface.html): read in place, nothing is linked.
#pragma once

#include <cstdint>
#include <memory>

#include "parley/data/sources/cells.h"

// The names and the layout are those of the Arrow C data interface.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace parley::api {

/// Takes the stream over, and reads it to its end. kInvalid for columns that are neither numbers
/// nor texts, and for a structure that contradicts itself.
Result<std::shared_ptr<const data::Cells>> read_stream(ArrowArrayStream* stream);

}  // namespace parley::api
