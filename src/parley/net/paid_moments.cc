#include "parley/net/paid_moments.h"

#include <algorithm>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/data/sources/source.h"
#include "parley/ledger/ledger.h"
#include "parley/net/owner.h"

namespace parley::net {
namespace {

Result<size_t> place_of(const charter::Charter& charter, const std::string& owner) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == owner) return i;
  return Error{Code::kPolicy, owner + " is not an owner of this charter",
               "Use the policy of an owner that the charter names."};
}

Result<const charter::Dataset*> dataset_of(const charter::Policy& policy, const std::string& name) {
  const auto is_meant = [&](const charter::Dataset& data) {
    return name.empty() ? policy.datasets.size() == 1 : data.name == name;
  };
  const auto found = std::find_if(policy.datasets.begin(), policy.datasets.end(), is_meant);
  if (found != policy.datasets.end()) return &*found;
  return Error{
      Code::kInvalid,
      name.empty() ? "the policy has several data sets" : "the policy has no data set " + name,
      "Name one of the policy's with --dataset."};
}

/// The charter may be a draft, so the rules are asked about consortium, learner and price only. A
/// person types the command, so none is waited for.
Result<void> check_allowed(const charter::Policy& policy, const charter::Charter& charter,
                           const charter::Dataset& data, double epsilon) {
  for (const charter::Accept& rule : policy.accept)
    if (rule.consortium == charter.consortium && rule.dataset == data.name &&
        (!rule.learner || *rule.learner == charter.learner.name) && epsilon <= rule.epsilon_max)
      return {};
  return Error{Code::kPolicy,
               "no [[accept]] rule lets " + charter.consortium + " spend epsilon " +
                   shortest(epsilon) + " of " + data.name,
               "Pay less, or change the policy."};
}

/// A draft may not name it yet.
Result<SigningKey> own_key(const charter::Policy& policy, const charter::Charter& charter,
                           size_t place) {
  if (charter.owners[place].sign_key) return signing_key(policy, charter);
  return SigningKey::from_pem(TRY(read_secret(policy.identity->sign_key)));
}

}  // namespace

Result<std::string> moments_noise(const charter::Policy& policy, const charter::Charter& charter,
                                  const MomentsOrder& order) {
  const size_t place = TRY(place_of(charter, policy.owner));
  return plan::moments_notice(TRY(plan::moments_terms(charter, place, order.price)), order.price);
}

Result<data::PaidMoments> release_moments(const charter::Policy& policy,
                                          const charter::Charter& charter,
                                          const MomentsOrder& order, Entropy& entropy,
                                          Clock& clock) {
  const size_t place = TRY(place_of(charter, policy.owner));
  const charter::Dataset* data = TRY(dataset_of(policy, order.dataset));
  TRY(check_allowed(policy, charter, *data, order.price.epsilon.value()));
  plan::Terms terms = TRY(plan::moments_terms(charter, place, order.price));
  TRY(plan::moments_notice(terms, order.price));
  const data::Source source = TRY(charter::source_of(policy, *data, charter));
  const auto loaded = TRY(data::load_any(source, data::encoding_of(charter.schema)));
  auto rows = TRY(data::moment_rows(loaded.rows, charter.schema));
  TRY(make_directories(ledger_of(policy).parent_path()));
  ledger::Ledger ledger = TRY(open_ledger(policy, clock));
  const auto dataset = TRY(ledger.declare(data->name, data->budget, charter.privacy.unit,
                                          TRY(data_source(policy, *data))));
  auto gate =
      TRY(gate::Gate::open(gate::Records(std::make_shared<const data::Rows>(std::move(rows))),
                           terms, ledger, dataset, entropy, static_cast<int>(policy.threads)));
  const auto released = TRY(gate.answer(1, std::vector<double>(terms.lattice.dimension())));
  data::PaidMoments moments = plan::paid_moments(charter, place, terms, released);
  if (!policy.identity) return moments;
  const SigningKey key = TRY(own_key(policy, charter, place));
  moments.signature = key.sign(data::signed_bytes(moments));
  return moments;
}

Result<void> check_moments(const charter::Charter& charter, const data::PaidMoments& moments,
                           const std::string& file) {
  const auto place = place_of(charter, moments.owner);
  if (!place) return place.error();
  const auto& key = charter.owners[*place].sign_key;
  if (!key) return {};
  if (moments.signature && is_signed(*key, data::signed_bytes(moments), *moments.signature))
    return {};
  return Error{Code::kIntegrity,
               moments.signature
                   ? "is not what " + moments.owner + "'s sign_key in the charter signed"
                   : "is not signed by " + moments.owner,
               "Ask " + moments.owner + " for the file that `parley data prepare --paid` made.",
               {.file = file}};
}

}  // namespace parley::net
