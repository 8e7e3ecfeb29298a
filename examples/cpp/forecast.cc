// Says what a job would be worth for each owner before anyone spends anything.
//   forecast CHARTER          for example: forecast three-banks.charter.toml
// Public rows are generated here; with a pilot of one's own, give {.folder = ...} in place of it.
#include <parley/forecast.h>

#include <iomanip>
#include <iostream>

namespace {

parley::Result<void> forecast(const char* file) {
  const auto charter = PARLEY_TRY(parley::Charter::read(file));
  const auto forecast = PARLEY_TRY(
      parley::make_forecast(charter, {.generated = parley::GeneratedData{.name = "lending"}}));

  const parley::RelativeFitness& range = forecast.relative_fitness();
  std::cout << std::setprecision(3) << charter.name() << ": " << 100 * range.mean
            << " % above the best possible loss, between " << 100 * range.low << " and "
            << 100 * range.high << " % in 90 % of runs\n";
  std::cout << "  " << forecast.metric().name << " " << forecast.metric().joint << "\n";
  for (const parley::OwnerForecast& owner : forecast.owners()) {
    const parley::GainVerdict& verdict = owner.against_alone;
    std::cout << "  " << owner.name << ": " << name_of(verdict.answer) << " against alone ("
              << owner.alone.mean << "): better by " << verdict.gain.mean << ", between "
              << verdict.gain.low << " and " << verdict.gain.high << "; counts from "
              << verdict.threshold << (verdict.alike ? ", if all owners were alike" : "") << "\n";
    if (owner.against_own_public)
      std::cout << "    " << name_of(owner.against_own_public->answer)
                << " against own + public rows, which cost nothing\n";
  }
  for (const parley::Warning& warning : forecast.warnings())
    std::cout << "  " << warning.text << " " << warning.what_to_do << "\n";
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::cerr << "usage: forecast CHARTER\n", 2;
  const auto done = forecast(arguments[1]);
  if (done) return 0;
  std::cerr << parley::describe(done.error()) << "\n" << done.error().hint << "\n";
  return parley::exit_status(done.error().code);
}
