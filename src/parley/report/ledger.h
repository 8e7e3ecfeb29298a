// A ledger, and what a person wrote into it, for people and for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"

namespace parley::report {

std::string to_text(const ledger::Contents& contents);
std::string to_json(const ledger::Contents& contents);  // parley.ledger/1
/// "approved by alice: we know them", of a row in which a person's words or a source stand; else
/// empty.
std::string said_in(const ledger::Row& row);
/// Also the text, for it is made for programs.
std::string to_json(const ledger::Exported& exported);  // parley.ledger.export/1
std::string to_text(const ledger::Verified& verified);
std::string to_json(const ledger::Verified& verified);  // parley.ledger.verify/1
/// Of a copy that was put in place, with what a person must do next.
std::string restored_text(const ledger::Verified& verified);

/// What receipts that peers kept have added to an older copy.
struct Reconciled {
  struct Job {
    std::filesystem::path file{};
    Hash charter{};
    std::string dataset{};
    ledger::Restoration receipts{};
  };
  std::string owner{};
  std::vector<Job> jobs{};
  size_t missing = 0;  // rows of which peers hold receipts, and that are still not booked
  Hash head{};
};
std::string to_text(const Reconciled& reconciled);
std::string to_json(const Reconciled& reconciled);  // parley.ledger.reconcile/1

/// Lifetime budgets that follow the policy.
struct RaisedBudgets {
  struct Raised {
    std::string dataset{};
    privacy::Budget before{}, after{};
  };
  std::string owner{};
  std::vector<Raised> raised{};
  Hash head{};
};
std::string to_text(const RaisedBudgets& budgets);
std::string to_json(const RaisedBudgets& budgets);  // parley.ledger.budget/1

/// A person has decided where a data set's records lie.
struct AcceptedSource {
  std::string owner{}, dataset{}, source{}, by{}, reason{};
  Hash head{};
};
std::string to_text(const AcceptedSource& accepted);
std::string to_json(const AcceptedSource& accepted);  // parley.ledger.source/1

}  // namespace parley::report
