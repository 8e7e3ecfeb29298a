// The one way out for what an owner has made of its exact records: a file that its owner alone may
// open, and that says what it is.
#pragma once

#include <filesystem>
#include <vector>

#include "parley/base/result.h"
#include "parley/learn/model.h"
#include "parley/privacy/flow.h"

namespace parley::gate {

/// A model without any noise of its own. It has no encoder, and is no start or pilot of a job.
using OwnModel = privacy::Raw<std::vector<double>>;

class OwnFile {
 public:
  /// `model` with these parameters and a card that promises nothing. A file that is there is kept,
  /// and an error.
  static Result<void> write(const std::filesystem::path& file, const OwnModel& theta,
                            learn::Model model, const std::string& owner);
  /// Is `model` such a file's? It is no model of a job, whatever else its card says.
  static bool wrote(const learn::Model& model);
};

}  // namespace parley::gate
