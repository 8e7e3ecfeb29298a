// The same for columns in several places: letters, shares of the dealer, sessions.
#include "support/played_job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parley::test::feed(parley::test::columns_jobs(), {data, size});
  return 0;
}
