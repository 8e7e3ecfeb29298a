// Applies a trained model to records that this program has in memory.
//   predict MODEL             for example: predict run/model.json, after train
#include <parley/predict.h>

#include <iostream>
#include <limits>

namespace {

/// Three records: all zero, one of 1.5, and one of missing values.
parley::Table records(const parley::Model& model) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  parley::Table table;
  for (const std::string& feature : model.features())
    if (feature != "bias") table.columns.push_back({feature, std::vector{0.0, 1.5, kMissing}});
  return table;
}

parley::Result<void> predict(const char* file) {
  const auto model = PARLEY_TRY(parley::Model::read(file));
  const auto predictions = PARLEY_TRY(parley::predict(model, records(model)));
  std::cout << predictions.to_csv();

  const parley::PrivacyCard& card = model.privacy();
  std::cout << model.name() << ": " << card.statement << "\n";
  for (const parley::PrivacyCard::Owner& owner : card.owners)
    std::cout << "  " << owner.name << " gave epsilon " << owner.epsilon << "\n";
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::cerr << "usage: predict MODEL\n", 2;
  const auto done = predict(arguments[1]);
  if (done) return 0;
  std::cerr << parley::describe(done.error()) << "\n" << done.error().hint << "\n";
  return parley::exit_status(done.error().code);
}
