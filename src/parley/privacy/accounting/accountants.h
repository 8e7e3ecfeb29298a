// Every accountant, side by side. A new one is a file and a line in accountants.cc.
#pragma once

#include <span>
#include <string_view>

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

struct Accountant {
  std::string_view name;
  std::string_view says;
  /// Both never below the truth, or an error that says which event it cannot take.
  Result<double> (*epsilon)(const Events&, Delta, Adjacency);
  Result<double> (*delta)(const Events&, double epsilon, Adjacency);
};

std::span<const Accountant> accountants();
Result<Accountant> accountant_named(std::string_view name);

/// The accountant whose promise a ledger enforces for such events: sums for pure ones, zCDP, both
/// tracks for a mixture, RDP where records are sampled and no delta for one answer is given. The
/// others are for reports of schedules that were fixed in advance.
const Accountant& enforced_for(const Events& events);

}  // namespace parley::privacy
