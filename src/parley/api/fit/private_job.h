// A private job of one owner and its learner in one process: noise comes from the kernel's
// generator, every answer passes the owner's gate, and its charge is in a ledger synced to disk
// before the learner sees the answer. tests/tidy.py keeps everything seeded out of here.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "parley/charter/charter.h"
#include "parley/data/any_rows.h"
#include "parley/learn/model.h"

namespace parley::api {

struct PrivateJob {
  charter::Charter charter;  // of one owner, with its bundle
  data::AnyRows rows;
  std::shared_ptr<const data::Rows> pilot{};  // null without a [pilot]
  std::filesystem::path ledger;               // of the charter's owner
  std::string dataset;                        // that pays; declared in the ledger
  int threads = 1;
  std::function<bool(uint64_t done, uint64_t total)> go_on{};  // after every answer
};

/// Refused (kBudgetExhausted) before anything is spent, unless the data set can pay for the whole
/// job. kFailed once go_on says no: what was paid by then is in the ledger.
Result<learn::Model> run_private_job(const PrivateJob& job);

/// Makes the ledger, or declares one more data set in it. The same again changes nothing.
struct NewDataset {
  std::string owner = "analyst", dataset = "data";
  double epsilon = 0, delta = 0;
  double pure = 0;  // the part of epsilon for Laplace noise; the rest is for Gaussian noise
};
Result<void> declare_dataset(const std::filesystem::path& ledger, const NewDataset& declared);

}  // namespace parley::api
