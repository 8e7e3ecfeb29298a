// The public pre-processing bundle: it turns encoded columns into features. It is fitted on pilot
// rows only, written as canonical JSON, named in the charter by its SHA-256, and applied in the
// same way by every party.
//
//   encoded columns -> standardise, cut -> select -> principal components -> Fourier features
//
// Leaves of public trees over the encoded columns may be added as more features.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/data/trees/trees.h"

namespace parley {
class JsonObject;
}

namespace parley::data {

class Rows;
struct Schema;

struct Bundle {
  /// How the kept columns were chosen among those that vary in the pilot.
  enum class SelectBy { kAll, kVariance, kCorrelation };
  struct MadeFrom {
    Hash pilot{};    // of the file
    Hash columns{};  // of what the charter says about the columns, see columns_hash
    uint64_t rows = 0;
    bool operator==(const MadeFrom&) const = default;
  };
  struct Rotate {
    bool whiten = false;
    std::vector<double> matrix{};     // one component after the other, a number per kept column
    std::vector<double> explained{};  // part of the variance, one per component
    bool operator==(const Rotate&) const = default;
  };
  /// Random Fourier features of the Gaussian kernel exp(-|x - x'|^2 / (2 scale^2)) (Rahimi and
  /// Recht 2007), sqrt(2/features) cos(w.x + b); w and b follow from the seed, see Transform.
  struct Fourier {
    uint64_t features = 0, seed = 0;
    double scale = 1;
    bool operator==(const Fourier&) const = default;
  };
  /// Trees over the encoded columns. Every tree is a category, its leaves are the levels: of a
  /// tree's features that of the record's leaf is `leaf`, the others are 0.
  struct PublicTrees {
    Trees trees{};
    double leaf = 1;
    bool operator==(const PublicTrees&) const = default;
  };

  MadeFrom made_from{};
  std::vector<std::string> input{}, encoded{};
  std::vector<double> mean{}, scale{};  // one per encoded column: (value - mean) / scale
  double cut = 0;                  // afterwards numbers are moved into [-cut, cut]; 0: they stay
  std::vector<uint64_t> select{};  // the encoded columns kept, ascending
  SelectBy select_by = SelectBy::kAll;
  std::optional<Rotate> rotate{};
  std::optional<Fourier> fourier{};
  std::optional<PublicTrees> trees{};
  double max_l1 = 0, max_l2 = 0;  // 99.9 % of the pilot's rows are at most as long, without bias

  /// Names: the kept columns, pc1 .., or rff1 ..; then the leaves, tree1=1 ..; the charter's bias
  /// comes after them.
  std::vector<std::string> features() const;
  bool operator==(const Bundle&) const = default;
};

/// The fingerprint of everything in the schema that decides the encoded columns.
Hash columns_hash(const Schema& schema);

/// The file, format parley.bundle/1: JSON with sorted keys, no blanks, numbers in shortest form,
/// one new line at the end. One bundle has one text, so the hash of the text names the bundle.
std::string to_json(const Bundle& bundle);
Hash hash_of(const Bundle& bundle);
/// `file` is for the errors only. Refuses a text that to_json would not have written.
Result<Bundle> bundle_from_json(std::string_view text, const std::string& file);
/// As part of a larger file.
Result<Bundle> bundle_of(const JsonObject& object);

/// Whether it was made for these columns.
Result<void> check_fits(const Bundle& bundle, const Schema& schema);

/// `cut` and `length` with trees, unless given.
inline constexpr double kCutBesideLeaves = 4;
inline constexpr double kLengthBesideLeaves = 2;

struct FitOptions {
  size_t top = 0;  // columns to keep, 0 for all that vary
  Bundle::SelectBy by = Bundle::SelectBy::kCorrelation;
  size_t components = 0;  // 0: no rotation, or with `whiten` all directions that vary
  bool whiten = false;
  std::optional<Bundle::Fourier> fourier{};
  std::optional<Trees> trees{};  // grown on the same rows: learn/trees/public_trees.h
  std::optional<double> cut{};   // in deviations; not with a rotation
  /// Root mean square length of the features that the pilot's columns would have without a cut, so
  /// that l2 and clip mean the same for any number of columns. Leaves get the same length.
  std::optional<double> length{};
};

/// `pilot` was read by `encoding_of(schema)`, so it holds encoded columns. Deterministic: the same
/// rows give the same bundle on every machine.
Result<Bundle> fit_bundle(const Rows& pilot, const Schema& schema, const Hash& pilot_hash,
                          const FitOptions& options);

/// The schema without bundle and bias: its features are the encoded columns.
Schema encoding_of(const Schema& schema);

}  // namespace parley::data
