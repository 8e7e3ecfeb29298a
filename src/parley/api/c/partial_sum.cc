#include "parley/api/c/partial_sum.h"

#include <algorithm>

#include "parley/api/internal.h"
#include "parley/data/sources/source.h"
#include "parley/gate/checks.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/terms.h"

namespace parley::api {
namespace {

template <class Norm>
std::vector<int64_t> sum_of(const plan::Terms& terms, std::span<const double> theta,
                            const data::AnyRows& rows) {
  return std::visit(
      [&](const auto& kind) {
        return learn::lattice_sum<Norm>(terms.loss, terms.lattice, theta, *kind, 0, kind->size());
      },
      rows);
}

Result<void> is_of_gradients(const charter::Charter& charter, const plan::Terms& terms) {
  if (!terms.statistics && !terms.fine_tune && !charter.secure_aggregation && !charter.records)
    return {};
  return Error{Code::kInvalid,
               "owners of this charter do not answer with sums of gradients",
               "Take a rule of protocol sync or async without secure sums.",
               {.key = "protocol.rule"}};
}

}  // namespace

Result<void> partial_sum(Call& call, std::span<const double> theta, std::span<int64_t> sum) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public", "table"}));
  charter::Charter charter = TRY(call.charter()).internal().charter;
  const std::filesystem::path folders[] = {charter.folder};
  TRY(charter::load_bundle(charter, folders));
  if (!charter.complete() || charter.owners.empty())
    return Error{Code::kInvalid, "the charter is a draft", "Complete it first."};
  const plan::Terms terms = TRY(plan::terms_for(charter, 0));
  TRY(is_of_gradients(charter, terms));
  TRY(gate::check_theta(theta, terms.lattice.dimension(), terms.box));
  std::string table;
  TRY(call.take("table", table));
  const data::Source source = data::source_of(TRY(call.tables().find(table)));
  const auto rows = TRY(data::load_any(source, charter.schema)).rows;
  const auto at = gate::without_tiny(theta);
  const bool l1 = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  const auto found = l1 ? sum_of<L1>(terms, at, rows) : sum_of<L2>(terms, at, rows);
  std::copy(found.begin(), found.end(), sum.begin());
  return {};
}

}  // namespace parley::api
