// The newest signed receipt of every owner, which a learner keeps over all its jobs. An owner that
// restored an older ledger from a backup is shown its own newer signature, and stops.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parley/wire/message.h"

namespace parley::net {

class ReceiptBook {
 public:
  /// An empty path keeps nothing.
  explicit ReceiptBook(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The one kept for this owner, if this key signed it. A file that cannot be read is an error:
  /// damaging it must not hide that a ledger is an older copy.
  Result<std::optional<wire::Proof>> newest(const std::string& owner, const SignKey& key) const;
  Result<void> keep(const std::string& owner, const wire::Proof& proof) const;

 private:
  std::filesystem::path file_of(const std::string& owner) const;
  std::filesystem::path folder_;
};

}  // namespace parley::net
