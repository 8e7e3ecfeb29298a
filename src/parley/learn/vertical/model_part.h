// A model over columns in several places has no single file. Each party keeps its part; a manifest
// names all parts by their hashes. A prediction is the sum of the parties' scores, and only this
// sum is revealed: each score is sent under masks that two parties share and that cancel in the
// sum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/data/any_rows.h"
#include "parley/learn/model.h"

namespace parley::data {
struct Source;
}

namespace parley::learn {

/// Never leaves its party. `model.theta` are its own coefficients.
struct PartOfModel {
  Model model{};
  std::string owner{};
  std::string id{};  // column of the record ids
  Hash charter{};
  double row_norm = 0, ball = 0;
  int bits = 0, fraction = 0;               // of rows and scores, as in training
  std::map<std::string, Secret32> masks{};  // shared with each other party
  Secret32 salt{};                          // so that the file's hash tells nothing
  bool operator==(const PartOfModel&) const = default;
};

/// The file: format parley.part/1, JSON.
std::string to_json(const PartOfModel& part);
Result<PartOfModel> part_from_json(std::string_view text, const std::string& file);

struct Manifest {
  struct Part {
    std::string owner{};
    Hash sha256{};
    bool operator==(const Part&) const = default;
  };
  std::string name{};
  Hash charter{};
  std::vector<Part> parts{};
  bool operator==(const Manifest&) const = default;
};

/// Format parley.manifest/1; its SHA-256 names the model.
std::string to_json(const Manifest& manifest);
Result<Manifest> manifest_from_json(std::string_view text, const std::string& file);

/// What one party gives to a prediction: words that say nothing without all others'.
struct MaskedScores {
  Hash charter{};
  std::string owner{};
  Hash part{};          // of the file
  std::string query{};  // what this prediction is called; masks follow from it
  int fraction = 0;
  std::vector<std::string> ids{};
  std::vector<uint64_t> words{};
  bool operator==(const MaskedScores&) const = default;
};

std::string to_json(const MaskedScores& scores);
Result<MaskedScores> scores_from_json(std::string_view text, const std::string& file);

/// Of records whose ids are in rising order. Masks follow from the query's name and the ids.
MaskedScores masked_scores(const PartOfModel& part, const data::AnyRows& rows,
                           std::vector<std::string> ids, const std::string& query,
                           const Hash& file);

/// The same of all records in a source, which has a column of ids.
Result<MaskedScores> masked_scores(const PartOfModel& part, const data::Source& source,
                                   const std::string& query, const Hash& file);

/// Remembers beside the part's file what was given under this name, before it leaves. Another
/// prediction under the same name is refused.
Result<void> keep_query(const std::filesystem::path& part, const MaskedScores& scores);

/// The sums. Refused unless every party of the manifest has given its own, for the same records.
Result<std::vector<double>> opened(const Manifest& manifest, std::span<const MaskedScores> parties);

}  // namespace parley::learn
