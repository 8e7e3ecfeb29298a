#include "parley/protocol/job.h"

#include <cmath>

namespace parley::protocol {

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

learn::Evaluation joint_evaluation(const learn::EvaluationMap& map,
                                   const std::vector<PlannedOwner>& owners,
                                   const Answers& answers) {
  double rows = 0, variance = 0;
  std::vector<double> sum(map.size());
  for (size_t owner = 0; owner < owners.size(); ++owner) {
    if (answers[owner] == nullptr) continue;
    rows += static_cast<double>(owners[owner].rows);
    variance += owners[owner].evaluation_variance;
    for (size_t j = 0; j < sum.size(); ++j) sum[j] += static_cast<double>((*answers[owner])[j]);
  }
  const double loss = map.gamma() / rows, right = loss / map.bound(), error = std::sqrt(variance);
  learn::Evaluation found{
      .loss = sum[0] * loss, .loss_error = error * loss, .loss_bound = map.bound()};
  if (sum.size() > 1) found.accuracy = sum[1] * right, found.accuracy_error = error * right;
  return found;
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
