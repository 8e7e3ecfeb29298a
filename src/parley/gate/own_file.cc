#include "parley/gate/own_file.h"

#include <span>
#include <string>

#include "parley/base/files.h"

namespace parley::gate {
namespace {

std::string exact_records() {
  return std::string(learn::kNotPrivate) + ": made of the exact records of ";
}

}  // namespace

Result<void> OwnFile::write(const std::filesystem::path& file, const OwnModel& theta,
                            learn::Model model, const std::string& owner) {
  model.theta = theta.value_;
  model.evaluation.reset();  // It was made for the joint model.
  model.card.is_private = false;
  model.card.statement = exact_records() + owner +
                         ", for its own use. Neither it nor its predictions may leave " + owner +
                         ", and no later job may start from it.";
  const FileToMake made{file, learn::to_json(model), true};
  return make_files(std::span(&made, 1));
}

bool OwnFile::wrote(const learn::Model& model) {
  return model.card.statement.starts_with(exact_records());
}

}  // namespace parley::gate
