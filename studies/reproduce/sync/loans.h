// The loans of the synchronous figures.
#pragma once

#include "studies/reproduce/sync/job.h"

namespace parley::reproduce::sync {

Result<SharedRecords> loans(const Study& study, Drift drift, uint64_t rows = 750'000);
std::vector<uint64_t> loan_sizes(const Study& study, uint64_t rows);
void add_loan_settings(Figure& figure);

}  // namespace parley::reproduce::sync
