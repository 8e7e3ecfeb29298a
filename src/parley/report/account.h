// What `parley account` says: accountants side by side, curves, calibration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/privacy/accounting/accountants.h"

namespace parley::report {

/// One accountant's number, or why it has none.
struct Said {
  std::string accountant;
  std::optional<double> value;
  std::string why_not{};
};

/// The epsilons at one delta, or the deltas at one epsilon.
struct AccountRow {
  double at;
  std::vector<Said> said;
};

struct Account {
  enum class Kind { kEpsilon, kDelta } kind;  // what is asked for
  privacy::Events events;
  privacy::Adjacency adjacency;
  std::vector<AccountRow> rows;  // one, or a curve
  std::string enforced_by;
};

struct AccountQuestion {
  Account::Kind kind;
  std::vector<double> at;  // deltas or epsilons
  std::string accountant;  // empty: all of them
};

Result<Account> account(const privacy::Events& events, privacy::Adjacency adjacency,
                        const AccountQuestion& question);

struct Calibration {
  double epsilon, delta;  // asked for
  std::string accountant;
  double factor;    // of all noise
  Account account;  // with that noise
};

Result<Calibration> calibrate(const privacy::Events& events, privacy::Adjacency adjacency,
                              const std::string& accountant, double epsilon, double delta);

std::string to_text(const Account& account);
std::string to_json(const Account& account);  // parley.account/1
std::string to_text(const Calibration& calibration);
std::string to_json(const Calibration& calibration);  // parley.account.calibrate/1

}  // namespace parley::report
