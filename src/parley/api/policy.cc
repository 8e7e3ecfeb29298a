#include "parley/policy.h"

#include <utility>

#include "parley/api/internal.h"
#include "parley/charter/explain_policy.h"
#include "parley/net/owner.h"

namespace parley {
namespace {

Policy handle_of(charter::Policy policy) {
  return Policy(std::make_shared<const Policy::Internal>(Policy::Internal{std::move(policy)}));
}

}  // namespace

Result<Policy> Policy::read(const std::filesystem::path& file) {
  return handle_of(TRY(charter::read_policy(file)));
}

Result<Policy> Policy::parse(std::string_view toml, const std::string& file) {
  return handle_of(TRY(charter::parse_policy(toml, file)));
}

Policy::Policy(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}
const std::string& Policy::owner() const { return internal().policy.owner; }
std::filesystem::path Policy::ledger() const { return net::ledger_of(internal().policy); }
std::string Policy::explain() const { return charter::explain(internal().policy, {}); }

Result<void> Policy::accepts(const Charter& charter) const {
  TRY(internal().policy.dataset_for(charter.internal().charter));
  return {};
}

}  // namespace parley
