// What rows say that release nothing: a budget, a person's approval, and what peers know of this
// ledger. One text for one meaning, so that a row that was read can be compared with what it says.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "parley/ledger/storage/row.h"

namespace parley::ledger {

/// Of a 'budget' row, so that budget and privacy unit are under the chain's hash.
std::string budget_event(const Dataset& dataset);
/// Its name, budget and unit.
std::optional<Dataset> budget_from(const std::string& event);

// Of an 'approval' row. Its charter and round are those that the words are about.

/// A person has approved the charter.
struct Approved {
  std::string by{};
  std::string at{};  // RFC 3339, UTC
  bool operator==(const Approved&) const = default;
};
/// A peer holds our signed receipt of a row that is not here: this ledger is an older copy.
struct Missing {
  privacy::ReleaseKind kind{};
  Hash chain{};  // hash of the row
  bool operator==(const Missing&) const = default;
};
/// The next row is a charge that was forgotten, booked again from such a receipt.
struct Restored {
  privacy::ReleaseKind kind{};
  Hash chain{};
  /// By the receipt, of all answers up to this one: where what was given just before is lost, and
  /// only its price is known, the rows here do not tell.
  std::optional<Hash> job{};
  bool operator==(const Restored&) const = default;
};
using Note = std::variant<Approved, Missing, Restored>;

std::string note_event(const Note& note);
std::optional<Note> note_from(const std::string& event);

/// Whether the limits of the tracks amount to no more than epsilon and delta.
bool keeps_promise(const privacy::Budget& budget);

/// Whether `after` is nowhere below `before`. Only such a change is allowed once there are charges:
/// then what was spent under either lies within `after`, whoever chose the moment. A budget that
/// moves from one track to the other could be above both promises on some path.
bool is_raised(const privacy::Budget& before, const privacy::Budget& after);

}  // namespace parley::ledger
