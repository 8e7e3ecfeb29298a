// A first draft of a charter and of the owners' policies, for people to correct: everything that is
// a guess carries the word CONFIRM. Guesses come from public rows; of private files only the header
// and the number of rows is looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/data/profile.h"

namespace parley::charter {

struct DraftPilot {
  std::string file;  // its name; it must lie beside the charter or with the data
  Hash sha256{};
  data::Profile profile{};
};

struct DraftOwner {
  std::string name;  // see owner_name
  std::filesystem::path file;
  data::Outline outline{};
  data::CsvSigns signs{};
  double epsilon = 1;  // for this job
  double delta = 0;    // that it accepts; 0: none
};

struct DraftInput {
  std::string target;
  std::vector<std::string> without{};  // columns that a person wants to leave out
  std::string id{};  // the column that names a record, where owners hold columns; empty: rows
  std::optional<DraftPilot> pilot{};
  std::vector<DraftOwner> owners{};
  double delta = 0;  // that all owners accept; 0: none
  bool gram = true;  // without a pilot: rule gram, if there are owners enough for secure sums
};

struct Draft {
  struct LeftOut {
    std::string column, reason;
  };
  std::string charter{};  // TOML
  std::string schema{};   // part of it: [target] and [[column]] blocks
  bool classes = false;   // the target is one of two
  std::vector<std::string> kept{};
  std::vector<LeftOut> left_out{};
  size_t confirm = 0;  // places marked CONFIRM
};

/// A name that a charter takes, made of a file's: Bank_A.csv becomes bank-a.
std::string owner_name(const std::filesystem::path& file);

/// Public rows, looked at as a whole.
Result<DraftPilot> draft_pilot(const std::filesystem::path& file, const data::CsvSigns& signs = {});
/// Private rows, only counted. Every owner gets a name of its own.
Result<std::vector<DraftOwner>> draft_owners(std::span<const std::filesystem::path> files,
                                             const data::CsvSigns& signs = {});

/// A delta that is far below 1/rows of every owner, which Gaussian noise and secure sums need.
double usual_delta(std::span<const DraftOwner> owners);

/// Needs a pilot or an owner. Where owners hold columns of the same records, the target and every
/// column must lie with one of them.
Result<Draft> draft_charter(const DraftInput& input);
/// With `columns` apart the protocol must be named, because it trusts more.
std::string draft_policy(const DraftOwner& owner, bool columns = false);

}  // namespace parley::charter
