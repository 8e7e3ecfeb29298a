// A trained model: its parameters, how it reads a record, and what its training cost its owners.
//
//   const auto model = parley::Model::read("runs/1/model.json");
//   if (!model) return 1;
//   for (size_t i = 0; i < model->features().size(); ++i)
//     std::cout << model->features()[i] << " " << model->parameters()[i] << "\n";
//   std::cout << model->privacy().statement << "\n";
//
// Predictions are in predict.h. A Model is a cheap handle to something that never changes: copies
// share it, and threads may use it at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/result.h"

namespace parley {

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
  double max_grad_norm = 0;  // to which one record's gradient is clipped
  double max_row_norm = 0;   // above 0: records themselves are, in place of their gradients
  std::string norm{};        // l1 | l2
  uint64_t rounds = 0;
  std::vector<Owner> owners{};
  std::vector<std::string> not_covered{};
  bool operator==(const PrivacyCard&) const = default;
};

/// What a model is judged by, on rows that are there: rmse, r2, accuracy, auc, ...
struct Metric {
  std::string_view name;  // a literal
  double value = 0;
};

/// What owners paid for after the last round: the joint loss of this very model, noisy. Standard
/// errors are those of the noise, whose scale is public.
struct Evaluation {
  double loss = 0, loss_error = 0;                     // mean over all rows, without l2
  double loss_bound = 0;                               // no record counts for more
  std::optional<double> accuracy{}, accuracy_error{};  // of two classes
  bool operator==(const Evaluation&) const = default;
};

/// What owners paid for in place of a model, under rule "distance": how far they differ, as two
/// noisy numbers over all of them, which `ForecastOptions::distance` takes. The model beside it is
/// the pilot's optimum, from which it was measured, and costs nothing.
struct Distance {
  /// The mean length of the owners' mean gradients there, in the metric of the pilot's Hessian and
  /// without the intercept's part, and the standard deviation of its noise.
  double norm = 0, norm_error = 0;
  /// The same of the intercept alone, with as much noise; none if the model has no intercept.
  /// Files of version 0.1 have none either: their `norm` is the length of both.
  std::optional<double> intercept{};
  std::vector<uint64_t> rows{};   // of each owner in the sum
  std::vector<double> weights{};  // of each in the mean, up to a factor
  std::string pilot{};            // SHA-256 of the public rows' file
  bool operator==(const Distance&) const = default;
};

/// The first paid answers, at the model of the public rows (the pilot), against what the pilot
/// predicts.
struct PilotCheck {
  double statistic = 0;   // Q = d' V^-1 d, d = paid - predicted gradient, V its covariance
  double threshold = 0;   // of Q: dispersion times the 99.9 % quantile of chi-square
  double dispersion = 1;  // how much Q varies between halves of the pilot itself, at least 1
  /// (d' H^-1 d - tr H^-1 V)/2: about the loss between the pilot's model and the owners' best. For
  /// people; the alarm does not depend on it.
  double gap = 0;
  bool alarm = false;  // the owners' rows are unlike the pilot
  /// The forecast made again with what is left of the budget: the loss above the owners' best that
  /// is expected of every way on, as far as the pilot's curvature tells.
  struct Left {
    double stop = 0;   // the pilot's model
    double go_on = 0;  // the charter's steps, by the pilot's curvature
    /// By a Gram matrix of the owners' records, where the charter has room for one.
    struct Gram {
      double loss = 0;
      double entry = 0;  // standard deviation of the noise on an entry of the matrix
      double floor = 0;  // eigenvalues below it are noise
      bool operator==(const Gram&) const = default;
    };
    std::optional<Gram> gram{};
    bool operator==(const Left&) const = default;
  };
  std::optional<Left> left{};  // on alarm
  bool operator==(const PilotCheck&) const = default;
};

/// How a model came about.
struct Training {
  std::string started{};  // RFC 3339, UTC
  uint64_t rounds = 0;
  std::string parley{};  // the version that trained
  std::optional<std::string> transcript_sha256{};
  std::optional<uint64_t> seed{};  // of a simulation
  bool operator==(const Training&) const = default;
};

class Model {
 public:
  /// Reads a file of format parley.model/1. kInvalid with file and key if it is not one, or has a
  /// number that is not finite.
  static Result<Model> read(const std::filesystem::path& file);
  /// The same from its text; `file` is for messages.
  static Result<Model> parse(std::string_view json, const std::string& file = "model");

  /// Writes it, so that `read` gives it back bit for bit. The file appears whole or not at all.
  Result<void> write(const std::filesystem::path& file) const;

  /// The charter's name.
  const std::string& name() const;
  /// The column that it predicts.
  const std::string& target() const;
  /// Names of its features: the charter's columns, levels of categories one by one, or what a
  /// bundle makes of them; `bias` last, if there is one.
  std::vector<std::string> features() const;
  /// theta, one per feature. A prediction is center + scale * theta.z for a number; for two classes
  /// theta.z is the score, whose sign is the class. Public: it was made of noisy answers only, if
  /// `privacy().is_private`.
  const std::vector<double>& parameters() const;
  /// What each owner was promised, and what was not covered.
  const PrivacyCard& privacy() const;
  const Training& training() const;
  /// If the charter kept a part of epsilon for it.
  const std::optional<Evaluation>& evaluation() const;
  /// If the charter's rule is "distance".
  const std::optional<Distance>& distance() const;
  std::string to_json() const;  // parley.model/1

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Model(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

}  // namespace parley
