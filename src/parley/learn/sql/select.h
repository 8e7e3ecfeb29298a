// The sums of kernel/ as one SELECT each: an owner's rows stay in its database, and integers come
// back.
//
// Gradients. Steps of the statement compute, row by row, what record_map.h computes: score, slope,
// the clipped slope over gamma, s, and then
//     d_j = (s z_j + 1.5 2^52) - 1.5 2^52,   q_j = d_j as an integer if |d_j| <= 2^40, else 0,
//     size = sum |q_j| in L1, sum q_j^2 in L2;   the record adds q if size <= limit, else 0,
// and the database adds these integers. The limit is floor(clip/gamma), or floor((clip/gamma)^2) in
// L2, reduced by 2^-40 of it if it is above 2^53.
//
// Claim. A record adds integers of a norm of at most clip/gamma, and floor of that in L1, as with
// the kernel, if the database is correct in three things: expressions of a row depend on that row
// alone; comparisons, casts, integers and, in L2, products and sums of doubles are right; a CASE
// gives the branch that its condition names. Nothing is assumed about the arithmetic that leads to
// d.
//
// Proof. q has integers, and a function of the record alone chooses q or 0. In L1 the size is a sum
// of at most 1000 integers below 2^41, which fits 64 bits, and is compared with an integer. In L2
// each square and each partial sum that is at most 2^53 is exact, and so is the comparison; above,
// the p + 1 roundings lose less than 1001 2^-53 < 2^-40 of the sum, which the reduced limit allows
// for. Integers add without rounding, in any order, on any number of machines; rows * bound <= 2^61
// is checked before. End of proof. Two records therefore differ by at most twice the bound:
// plan/sensitivity.h.
//
// By the proof in lattice.h the CASE never chooses 0 if the arithmetic is that of IEEE 754; it is
// there for databases about which we know less. Equality with the kernel is neither needed nor
// promised: SQL has no fused multiply-add, so a score may differ in its last place, and a number
// near a tie may be rounded to the other neighbour. Tests count how often (expected: never).
//
// Evaluations: the same, with 0 <= d <= K checked instead, and the proof of evaluation_map.h.
// Moments: by the proof of statistics_map.h, which requires IEEE doubles (with one more rounding of
// each entry, of the 2^-39 that its sensitivity adds); a norm of one record does not suffice for
// them.
//
// Errors. Some databases fail on overflow, underflow to 0 and division by 0. Features are 0 or of
// size 2^-500 to 1e140, theta is 0 or 2^-450 to the box, labels are at most 1e140; every factor
// that could be smaller is set to 0 first (or_zero), at a size at which its product rounds to the
// lattice's 0.
#pragma once

#include <variant>

#include "parley/base/math/norm.h"
#include "parley/base/result.h"
#include "parley/data/sql/record.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/loss.h"

namespace parley::learn {

/// Numbers of one statement: databases limit how many columns a SELECT has.
inline constexpr size_t kSqlNumbersMax = 1600;

using SqlStatement = Result<data::sql::Statement>;

/// Parameters are theta's coordinates and constants; the row has count(*) and then the sums.
template <class Norm>
SqlStatement sql_gradient(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                          const data::Schema& schema, const Losses& loss, const Lattice& lattice);
SqlStatement sql_evaluation(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                            const data::Schema& schema, const EvaluationMap& map);
template <class Norm>
SqlStatement sql_statistics(data::sql::Dialect dialect, const data::sql::SqlTable& table,
                            const data::Schema& schema, const StatisticsMap<Norm>& map);

}  // namespace parley::learn
