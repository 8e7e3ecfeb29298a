// The seeds of the fuzz targets lead through whole jobs, and damaged ones do no harm.
#include "support/played_job.h"

#include <gtest/gtest.h>

namespace parley::test {

void expect_to_finish(const std::vector<JobInput>& jobs) {
  for (size_t which = 0; which < jobs.size(); ++which) {
    const Bytes input = played(jobs, which);
    FedJob fed(jobs[which]);
    for (const Letter& letter : letters_in(ByteView(input).subspan(1), jobs[which].time() + 1))
      fed.hear(letter);
    EXPECT_TRUE(fed.finished()) << which;
    for (size_t at = 1; at < input.size(); at += 1 + input.size() / 20) {
      Bytes damaged = input;
      damaged[at] ^= 0x15;
      feed(jobs, damaged);
    }
  }
}

TEST(PlayedJob, AsynchronousJobsReplay) { expect_to_finish(async_jobs()); }
TEST(PlayedJob, JobsOverColumnsReplay) { expect_to_finish(columns_jobs()); }

}  // namespace parley::test
