#include "parley/protocol/job.h"

namespace parley::protocol {

Result<void> require_signatures(std::vector<PlannedOwner>& owners,
                                const charter::Charter& charter) {
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    if (!owner.sign_key)
      return Error{Code::kInvalid,
                   owner.name + " has no sign_key, so nobody could check its receipts",
                   "Add the line that `parley join` printed for it.",
                   {.key = "owner[" + std::to_string(i) + "].sign_key"}};
    owners[i].sign_key = owner.sign_key;
  }
  return {};
}

Hash model_hash(std::span<const double> theta) {
  TupleBytes tuple;
  for (double value : theta) tuple.add(value);
  return tuple.sha256();
}

Result<void> check_version(uint32_t version) {
  if (version == wire::kVersion) return {};
  return Error{Code::kIntegrity,
               "the peer speaks version " + std::to_string(version) + " of the wire, we speak " +
                   std::to_string(wire::kVersion),
               "Install the same version of Parley on both sides."};
}

Error wrong(const PlannedOwner& owner, const std::string& what) {
  return {Code::kIntegrity, owner.name + " sent " + what};
}

Result<void> check_receipt(const PlannedOwner& owner, const wire::ReceivedAnswer& answer,
                           const Hash& question, const Hash& before) {
  const privacy::Receipt& receipt = answer.receipt;
  if (receipt.query != question) return wrong(owner, "an answer to another question");
  if (receipt.answer != sha256(bytes_of(answer.values)))
    return wrong(owner, "a receipt for other numbers");
  if (receipt.job != privacy::job_after(before, receipt.query, receipt.answer))
    return wrong(owner, "a receipt of another job");
  return {};
}

Result<void> check_signature(const Hash& charter, const PlannedOwner& owner,
                             const wire::ReceivedAnswer& answer) {
  const Bytes bytes = wire::signed_bytes(charter, owner.name, answer.receipt);
  if (answer.signature && is_signed(*owner.sign_key, bytes, *answer.signature)) return {};
  return Error{Code::kIntegrity,
               owner.name + " sent a receipt that its sign_key in the charter did not sign",
               "Its policy must name the key that `parley join` made for this charter."};
}

}  // namespace parley::protocol
