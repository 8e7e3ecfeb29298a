// What a hundred noisy releases cost, by every accountant, and the noise that a promise needs.
#include <parley/account.h>

#include <iomanip>
#include <iostream>

namespace {

parley::Result<void> account() {
  constexpr double kDelta = 1e-6;
  // Gaussian noise whose standard deviation is 12 times the L2 sensitivity, 100 times.
  const parley::Events events = {{parley::GaussianEvent{.noise_multiplier = 12}, 100}};

  const auto account = PARLEY_TRY(parley::account(events, {.at = {kDelta}}));
  std::cout << "100 releases, noise multiplier 12, delta " << kDelta << "\n"
            << std::setprecision(4);
  for (const parley::Said& said : account.rows.front().said)
    if (said.value)
      std::cout << "  " << std::setw(9) << said.accountant << "  epsilon " << *said.value << "\n";
    else
      std::cout << "  " << std::setw(9) << said.accountant << "  " << said.why_not << "\n";
  std::cout << "a ledger enforces " << account.enforced_by << "\n";

  const auto calibration = PARLEY_TRY(parley::calibrate(events, 1.0, kDelta));
  std::cout << "epsilon 1 needs a noise multiplier of " << 12 * calibration.factor << "\n";
  return {};
}

}  // namespace

int main() {
  const auto done = account();
  if (done) return 0;
  std::cerr << parley::describe(done.error()) << "\n" << done.error().hint << "\n";
  return parley::exit_status(done.error().code);
}
