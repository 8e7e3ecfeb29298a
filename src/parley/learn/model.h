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

namespace parley::learn {

/// In the statement of every model whose card says that it is not private.
inline constexpr std::string_view kNotPrivate = "NOT PRIVATE";

/// What the training promised each owner, and what it did not.
struct PrivacyCard {
  struct Owner {
    std::string name{};
    uint64_t rows = 0;
    double epsilon = 0, delta = 0;
    double epsilon_evaluation = 0;  // part of epsilon
    uint64_t receipts = 0;
    bool operator==(const Owner&) const = default;
  };

  bool is_private = false;
  std::string calibration = "sound";  // sound | paper; the latter is never private
  std::string statement{};
  std::string adjacency = "replace_one";
  std::string unit = "record";
  uint64_t unit_records = 1, overlap = 1;
  std::string charter{};  // sha256:...
  std::string protocol{}, mechanism{};
  double max_grad_norm = 0;  // of one record's gradient; or, above 0, of the record itself:
  double max_row_norm = 0;
  std::string norm{};  // l1 | l2
  uint64_t rounds = 0;
  std::vector<Owner> owners{};
  std::vector<std::string> not_covered{};
  bool operator==(const PrivacyCard&) const = default;
};

/// What owners paid for after the last round: the joint loss of this very model, noisy. Standard
/// errors are those of the noise, whose scale is public.
struct Evaluation {
  double loss = 0, loss_error = 0;                     // mean over all rows, without l2
  double loss_bound = 0;                               // no record counts for more
  std::optional<double> accuracy{}, accuracy_error{};  // of two classes
  bool operator==(const Evaluation&) const = default;
};

struct Training {
  std::string started{};  // RFC 3339, UTC
  uint64_t rounds = 0;
  std::string parley{};  // the version that trained
  std::optional<std::string> transcript_sha256{};
  std::optional<uint64_t> seed{};  // of a simulation
  bool operator==(const Training&) const = default;
};

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
