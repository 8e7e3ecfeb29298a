// The records behind the figures: stand-ins, or with --data the papers' files and excerpts of them,
// as features ready for the model. Made once for all figures that ask for the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/data/rows.h"
#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct Records {
  data::Rows rows;       // of all owners, in the file's order; the pilot is not among them
  data::Rows pilot;      // public rows from the end of the file, on which features were fitted
  std::string source{};  // "stand-in lending, drift 0.7", or the file's name
  std::vector<std::string> names{};  // hospitals; empty: the figure cuts owners as it likes
  std::vector<uint64_t> sizes{};     // of the hospitals, one after the other in `rows`
};
using SharedRecords = std::shared_ptr<const Records>;

/// How interest rates change along the file of the stand-in: not at all, from its first row to its
/// last, or as the square root of the row's place in a file of 890,000, wherever the owners' rows
/// end. Files are what they are.
enum class Drift { kNone, kWhole, kAlong };

/// Ten whitened components of a loan and its rate, (rate - 13.25 %) / 15.75 %, within [-1, 1].
/// A file may have fewer rows than asked for.
Result<SharedRecords> lending_records(const Study& study, uint64_t rows, Drift drift);
/// Components and amount of a card payment, standardised, and the constant 1; the label is +1 for a
/// fraud and -1 otherwise.
Result<SharedRecords> credit_records(const Study& study, uint64_t rows);
/// Ten whitened covariates of a stay and the centred logarithm of its length, / 2.5. Only hospitals
/// with 10,000 stays or more, or 100 where no file has two of those.
Result<SharedRecords> hospital_records(const Study& study);

/// Rows [begin, end) of others.
data::Rows part_of(const data::Rows& rows, size_t begin, size_t end);

/// The sizes of the grid that `owners` owners can have with this many rows. If none is left, or
/// the rows would allow a third more than the last, the largest possible size as well.
std::vector<uint64_t> sizes_within(const std::vector<uint64_t>& grid, uint64_t owners,
                                   uint64_t rows);

}  // namespace parley::reproduce
