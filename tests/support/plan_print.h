// What stands in the golden plans: one function for each kind of numbers that follow from a
// charter. Where a number is computed may change; what is printed must not.
#pragma once

#include <memory>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "support/plan_text.h"

namespace parley::test {

/// Everything below, for one charter. `pilot` are its public rows; null where it has none.
PlanText plan_of(const charter::Charter& charter, const std::shared_ptr<const data::Rows>& pilot);

// plan_terms.cc: what an owner's gate is asked for, and how much noise it adds.
void print_owner_terms(PlanText& out, const charter::Charter& charter);
void print_paid_moments(PlanText& out, const charter::Charter& charter);

// plan_sums.cc: the same under secure aggregation, and of columns in several places.
void print_share_plan(PlanText& out, const charter::Charter& charter);
void print_sharing_terms(PlanText& out, const charter::Charter& charter);

// plan_learners.cc: what a learner does with the answers.
void print_learner(PlanText& out, const charter::Charter& charter, const data::Rows* pilot);

// plan_forecast.cc: what is said beforehand, and what the simulator of the papers computes.
void print_explanation(PlanText& out, const charter::Charter& charter);
void print_forecast(PlanText& out, const charter::Charter& charter,
                    const std::shared_ptr<const data::Rows>& pilot);
void print_paper(PlanText& out, const charter::Charter& charter);

// For all of them.
/// Numbers that lie between -1 and 1, always the same; labels of classes are -1 and 1.
std::shared_ptr<const data::Rows> made_rows(const data::Schema& schema, size_t count);

}  // namespace parley::test
