// The card payments of the synchronous figures.
#pragma once

#include "studies/reproduce/sync/job.h"

namespace parley::reproduce::sync {

Result<SharedRecords> payments(const Study& study);
void add_fraud_settings(Figure& figure);

}  // namespace parley::reproduce::sync
