// No bytes and no clock crash either side of an asynchronous job, make an owner pay beyond its
// charter, or bring the model out of the box.
#include "support/played_job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parley::test::feed(parley::test::async_jobs(), {data, size});
  return 0;
}
