#include "parley/protocol/vertical/dealer.h"

namespace parley::protocol {
namespace {

Secret32 key_for(const plan::VerticalTerms& terms, const Secret32& key,
                 std::span<const Hash> columns) {
  TupleBytes tuple;
  tuple.add("dealer").add(terms.charter);
  for (const Hash& digest : columns) tuple.add(digest);
  return derived(key, tuple);
}

}  // namespace

Dealer::Dealer(const plan::VerticalTerms& terms, const Secret32& key, std::span<const Hash> columns)
    : noise_(terms.beside.value_or(terms.noise)),
      parties_(terms.columns.size()),
      key_(key_for(terms, key, columns)) {
  std::vector<Secret32> setups;
  for (size_t m = 0; m < parties_; ++m) setups.push_back(setup_seed(m));
  if (terms.rule == charter::Rule::kGradients)
    gradients_.emplace(terms.plan.rows, terms.columns, setups);
  if (terms.rule == charter::Rule::kStatistics)
    moments_.emplace(terms.plan.rows, learn::MomentsLayout(terms.columns, terms.label_holder),
                     setups);
}

Secret32 Dealer::seed(std::string_view purpose, size_t party, uint32_t round) const {
  return derived(key_, TupleBytes().add(purpose).add(uint64_t{party}).add(uint64_t{round}));
}

std::vector<Words<Word>> Dealer::corrections(uint32_t round) {
  std::vector<Secret32> seeds;
  for (size_t k = 0; k < parties_; ++k) seeds.push_back(round_seed(k, round));
  if (gradients_) gradients_->begin_round(seeds);
  std::vector<Words<Word>> corrections(parties_);
  for (size_t m = 0; m < parties_; ++m) {
    KeyedEntropy entropy(seed("noise", m, round));
    const auto noise = [&] { return noise_.sample(entropy); };
    if (gradients_) corrections[m] = gradients_->correction_for(m, noise);
    if (moments_) corrections[m] = moments_->correction_for(m, seeds, noise);
  }
  return corrections;
}

}  // namespace parley::protocol
