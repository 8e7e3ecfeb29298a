// The texts of ledger rows that release nothing: a budget and its data set, a person's decision, a
// receipt that a peer holds, a checkpoint. Each meaning has exactly one text, so a row that was
// read can be compared with the text of what it says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "parley/base/crypto/signature.h"
#include "parley/ledger/storage/row.h"

namespace parley::ledger {

/// Of a 'budget' row, so that budget, privacy unit and source are under the chain's hash.
std::string budget_event(const Dataset& dataset);
/// All but its number and what was spent.
std::optional<Dataset> budget_from(const std::string& event);

// Of a note: any other row that is no charge. Its charter and round are those that the words are
// about.

/// What a person has decided about the charter. The last word counts.
struct Decision {
  enum class What { kApproved, kRefused, kWithdrawn };
  What what = What::kApproved;
  std::string by{};
  std::string at{};      // RFC 3339, UTC
  std::string reason{};  // may be empty
  /// By the owner's key, of decision_bytes(); nothing where it has none.
  std::optional<Signature> signature{};
  bool operator==(const Decision&) const = default;
};
std::string_view name_of(Decision::What what);
Bytes decision_bytes(const std::string& owner, const Hash& charter, Decision::What what);

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

/// The row's answer is what all rows before add up to (Chain::state), and the owner has signed it:
/// opening may begin here.
struct Checkpoint {
  SignKey key{};
  Signature signature{};
  bool operator==(const Checkpoint&) const = default;
};

using Note = std::variant<Decision, Missing, Restored, Checkpoint>;

std::string note_event(const Note& note);
std::optional<Note> note_from(const std::string& event);

/// The kind of a note's row. Format 1 has 'approval' for all of them.
std::string_view kind_of(const Note& note, int64_t format);
bool is_note(std::string_view kind);

/// Whether the limits of the tracks amount to no more than epsilon and delta.
bool keeps_promise(const privacy::Budget& budget);

/// Whether `after` is nowhere below `before`. Only such a change is allowed once there are charges:
/// then what was spent under either lies within `after`, whoever chose the moment. A budget that
/// moves from one track to the other could be above both promises on some path.
bool is_raised(const privacy::Budget& before, const privacy::Budget& after);

}  // namespace parley::ledger
