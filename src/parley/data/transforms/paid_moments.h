// A pilot for jobs without public rows, made from moments that owners release and are charged for.
// A record becomes w = (1, its encoded columns, its label), every number mapped to [-1, 1] by
// public bounds, and the noisy mean of w w' is released. From this public matrix rows are drawn
// that have about these moments. They serve as a pilot like any other: for bundles, steps, starts
// and curvature.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/result.h"
#include "parley/data/any_rows.h"
#include "parley/data/schema.h"

namespace parley::data {

/// How many numbers w has.
size_t moment_columns(const Schema& schema);

/// `rows` were read by encoding_of(schema). A pure function of each record: the zero record stays
/// so. The label of the result is 0.
Result<Rows> moment_rows(const AnyRows& rows, const Schema& schema);

/// What one owner has released.
struct PaidMoments {
  std::string owner;
  Hash charter{};  // under which it was paid: of the charter that was given
  Hash columns{};  // columns_hash of its schema
  uint64_t rows = 0;
  double epsilon = 0, delta = 0;         // charged
  double deviation = 0;                  // of the noise on one number on the diagonal
  double beside = 0;                     // likewise beside the diagonal
  std::vector<double> upper{};           // of the mean of w w', row by row
  std::optional<Signature> signature{};  // of its owner, over signed_bytes
  bool operator==(const PaidMoments&) const = default;
};

/// All of it but the signature.
Bytes signed_bytes(const PaidMoments& moments);

/// The file, format parley.moments/1.
std::string to_json(const PaidMoments& moments);
Result<PaidMoments> moments_from_json(std::string_view text, const std::string& file);

/// The same moments after as much noise again as they have, normal and from a seed: for telling
/// what the noise leaves unknown.
std::vector<PaidMoments> with_more_noise(std::span<const PaidMoments> owners, uint64_t seed);

/// A pilot as CSV: `count` rows of normal numbers with the owners' joint mean and covariance, each
/// owner counting by its rows. Directions that vary less than the noise is large get the noise's
/// variance: their curvature is then overestimated, which makes steps too short and not too long.
/// Categories and classes are drawn with about their frequencies. The same moments give the same
/// text on every machine. Refuses moments of other columns or of different charters.
Result<std::string> drawn_pilot(std::span<const PaidMoments> owners, const Schema& schema,
                                uint64_t count);

}  // namespace parley::data
