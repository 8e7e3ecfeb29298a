// Predictions of a trained model for records of one's own.
//
//   const auto model = parley::Model::read("model.json");
//   const auto predictions = model ? parley::predict(*model, "new-loans.csv") : model.error();
//   if (predictions) std::cout << predictions->to_csv();
//
// Nothing leaves this process and nothing is paid: a model is public, and whoever has records may
// apply it to them. Functions may be called from several threads at once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/data.h"
#include "parley/model.h"
#include "parley/result.h"

namespace parley {

/// One value for each record, in the order of the records: the target in its own unit, or the score
/// of the second class.
struct Predictions {
  std::string model;   // its name
  std::string column;  // the target's name
  std::vector<double> values;
  std::vector<std::string> ids{};       // of the records, where they are known
  std::string level{};                  // the second class, of which values are scores; else empty
  std::vector<double> probabilities{};  // of that class, where the loss is logistic

  /// A header that says what stands below, then a line for each record: the value, or of two
  /// classes the probability of the second, or its score where the loss gives no probability.
  std::string to_csv() const;
  std::string to_json() const;  // parley.predict/1
};

/// Of all records in a file, CSV or LIBSVM by its name, perhaps packed (.zst). It needs the columns
/// that the model was trained on, by their names, and no target. Numbers are moved into the
/// charter's bounds as in training; what is missing or unreadable becomes the charter's constant
/// for it. kInvalid if a column is missing or the file's structure is wrong.
Result<Predictions> predict(const Model& model, const std::filesystem::path& file,
                            const CsvSigns& signs = {});

/// The same of records in memory.
Result<Predictions> predict(const Model& model, const Table& table);

}  // namespace parley
