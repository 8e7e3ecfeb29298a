// A trained model with everything that `predict` needs and what its training cost its owners.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/data/sparse_rows.h"
#include "parley/learn/loss.h"
#include "parley/model.h"

namespace parley::learn {

/// In the statement of every model whose card says that it is not private.
inline constexpr std::string_view kNotPrivate = "NOT PRIVATE";

using parley::Distance;
using parley::Evaluation;
using parley::PrivacyCard;
using parley::Training;

struct Model {
  std::string name{};
  Losses loss = Squared{};
  std::vector<double> theta{};  // one per feature of the schema
  double box = 0;               // |theta|_inf <= box
  double l2 = 0;
  std::string prediction = "value = center + scale * theta.z";  // for people
  data::Schema schema{};  // a prediction reads its records by it, as the training did
  PrivacyCard card{};
  Training training{};
  std::optional<Evaluation> evaluation{};
  std::optional<Distance> distance{};
  bool operator==(const Model&) const = default;
};

/// The file: format parley.model/1, JSON. Numbers come back bit for bit.
std::string to_json(const Model& model);
/// `file` is for the errors only, which name the key.
Result<Model> model_from_json(std::string_view text, const std::string& file);

Result<Model> read_model(const std::filesystem::path& path);
/// Refuses a model that `read_model` would not give back, for example one with a NaN.
Result<void> write_model(const std::filesystem::path& path, const Model& model);

/// center + scale * theta.z for every row. For a target of two classes (center 0, scale 1) that is
/// the score, whose sign is the class.
std::vector<double> predict(const Model& model, const data::Rows& rows);
std::vector<double> predict(const Model& model, const data::SparseRows& rows);

}  // namespace parley::learn
