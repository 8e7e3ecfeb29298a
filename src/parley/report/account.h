// What `parley account` says: accountants side by side, curves, calibration.
#pragma once

#include <string>

#include "parley/account.h"
#include "parley/privacy/accounting/accountants.h"

namespace parley::report {

using parley::Account;
using parley::AccountQuestion;
using parley::AccountRow;
using parley::Calibration;
using parley::Said;

Result<Account> account(const privacy::Events& events, privacy::Adjacency adjacency,
                        const AccountQuestion& question);

Result<Calibration> calibrate(const privacy::Events& events, privacy::Adjacency adjacency,
                              const std::string& accountant, double epsilon, double delta);

std::string to_text(const Account& account);
std::string to_json(const Account& account);  // parley.account/1
std::string to_text(const Calibration& calibration);
std::string to_json(const Calibration& calibration);  // parley.account.calibrate/1

}  // namespace parley::report
