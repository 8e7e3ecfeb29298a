// Brings an older copy of a ledger up to date, from the receipts that its owner has signed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "parley/charter/policy.h"
#include "parley/ledger/ledger.h"

namespace parley::net {

struct Reconciled {
  struct Job {
    std::filesystem::path file{};
    Hash charter{};
    std::string dataset{};
    ledger::Restoration receipts{};
  };
  std::vector<Job> jobs{};
  size_t missing = 0;  // rows that peers have shown receipts of, and that are still not booked
  Hash head{};
};

/// Books what `files`, transcripts or journals of learners, hold of this owner and the ledger has
/// forgotten. A receipt that the owner's key did not sign is an error, and nothing of its file is
/// booked. `dataset` is needed where neither ledger nor policy tells which one a charter was
/// charged to. With the last charge that the ledger's witness has seen, the witness believes the
/// ledger again; without it that is an error, and what was found stays booked.
Result<Reconciled> reconcile(const charter::Policy& policy, ledger::Ledger& ledger,
                             std::span<const std::filesystem::path> files,
                             const std::string& dataset);

/// Lets a data set read what the policy now says, because a person decided so. Returns where that
/// is.
Result<std::string> accept_source(const charter::Policy& policy, ledger::Ledger& ledger,
                                  const std::string& dataset, const std::string& by,
                                  const std::string& reason);

/// A budget that the policy raised, before and after.
struct Raised {
  std::string dataset{};
  privacy::Budget before{}, after{};
};

/// Chains the policy's budgets where they are above the ledger's. kPolicy if one is lower.
Result<std::vector<Raised>> raise_budgets(const charter::Policy& policy, ledger::Ledger& ledger);

}  // namespace parley::net
