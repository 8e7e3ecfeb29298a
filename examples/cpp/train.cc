// Trains a model among the owners of a charter, all in this process, on generated rows.
//   train CHARTER FOLDER      for example: train three-banks.charter.toml run
// Writes the model and the owners' ledgers into FOLDER.
#include <parley/simulate.h>

#include <iomanip>
#include <iostream>

namespace {

parley::Result<void> train(const char* file, const std::filesystem::path& folder) {
  // Changes of the charter make another job: fewer rows, so that this takes a second.
  const auto charter = PARLEY_TRY(parley::Charter::read(
      file, {{"owner.0.rows", "20000"}, {"owner.1.rows", "20000"}, {"owner.2.rows", "20000"}}));
  const parley::GeneratedData data{.name = "lending", .seed = 1};
  const auto run = PARLEY_TRY(parley::simulate(charter, data, {.seed = 7, .out = folder}));

  std::cout << charter.name() << ", job " << parley::to_hex(charter.hash()).substr(0, 12) << "\n"
            << std::setprecision(3);
  for (const parley::SimulatedOwner& owner : run.owners())
    std::cout << "  " << owner.name << ": spent epsilon " << owner.epsilon_spent << " of "
              << owner.epsilon << "; above the best possible loss alone " << 100 * owner.local_only
              << " %, together " << 100 * owner.joint << " %\n";
  for (const auto& [name, value] : run.metrics()) std::cout << "  " << name << " " << value << "\n";

  const parley::Model model = PARLEY_TRY(run.model());
  std::cout << "  model " << run.model_file().string() << " of " << model.parameters().size()
            << " parameters\n  NOT PRIVATE:";
  for (const std::string& why : run.why_not_private()) std::cout << " " << why << ";";
  std::cout << "\n";
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::cerr << "usage: train CHARTER FOLDER\n", 2;
  const auto done = train(arguments[1], arguments[2]);
  if (done) return 0;
  std::cerr << parley::describe(done.error()) << "\n" << done.error().hint << "\n";
  return parley::exit_status(done.error().code);
}
