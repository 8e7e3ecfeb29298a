#include "parley/account.h"

#include "parley/privacy/accounting/event_json.h"
#include "parley/report/account.h"

namespace parley {

Result<Events> events_from_json(std::string_view text, const std::string& file,
                                const std::string& dataset) {
  return privacy::events_from_json(text, file, dataset);
}

Result<Account> account(const Events& events, const AccountQuestion& question,
                        Adjacency adjacency) {
  return report::account(events, adjacency, question);
}

Result<Calibration> calibrate(const Events& events, double epsilon, double delta,
                              const std::string& accountant, Adjacency adjacency) {
  return report::calibrate(events, adjacency, accountant, epsilon, delta);
}

std::string Account::to_text() const { return report::to_text(*this); }
std::string Account::to_json() const { return report::to_json(*this); }
std::string Calibration::to_text() const { return report::to_text(*this); }
std::string Calibration::to_json() const { return report::to_json(*this); }

}  // namespace parley
