#include "parley/net/journal/receipts.h"

#include <utility>

#include "parley/base/files.h"
#include "parley/wire/transcript.h"

namespace parley::net {

std::filesystem::path ReceiptBook::file_of(const std::string& owner) const {
  return folder_ / (owner + ".receipt.pb");
}

Result<std::optional<wire::Proof>> ReceiptBook::newest(const std::string& owner,
                                                       const SignKey& key) const {
  const auto file = file_of(owner);
  if (folder_.empty() || !std::filesystem::exists(file)) return std::optional<wire::Proof>();
  const std::string bytes = TRY(read_file(file));
  const auto kept = wire::parse_transcript(as_bytes(bytes));
  if (!kept || kept->entries.size() != 1 || !kept->entries[0].answer.signature)
    return Error{Code::kIntegrity,
                 "is not a receipt that this program kept",
                 "Put it back from a backup; without it an owner's older ledger is not noticed.",
                 {.file = file.string()}};
  const wire::ReceivedAnswer& answer = kept->entries[0].answer;
  const Bytes text = wire::signed_bytes(kept->charter, owner, answer.receipt);
  if (!is_signed(key, text, *answer.signature))
    return std::optional<wire::Proof>();  // Its old key.
  return std::optional(wire::Proof{kept->charter, answer.receipt, *answer.signature});
}

/// As a transcript of one answer without its numbers.
Result<void> ReceiptBook::keep(const std::string& owner, const wire::Proof& proof) const {
  if (folder_.empty()) return {};
  TRY(make_directories(folder_));
  Bytes bytes = wire::transcript_head(proof.charter, "");
  const wire::ReceivedAnswer answer{.round = proof.receipt.round,
                                    .values = {},
                                    .receipt = proof.receipt,
                                    .signature = proof.signature};
  const Bytes entry = wire::transcript_entry(owner, answer);
  bytes.insert(bytes.end(), entry.begin(), entry.end());
  return write_file(file_of(owner), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace parley::net
