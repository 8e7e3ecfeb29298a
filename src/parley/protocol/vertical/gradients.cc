#include "parley/protocol/vertical/gradients.h"

#include <utility>

#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {

Words<Word> stream_of(const Secret32& seed, size_t count) {
  Words<Word> words(count);
  add_mask(seed, words);
  return words;
}

WordMatrix<Word> matrix_of(const Secret32& seed, size_t rows, size_t columns) {
  return {rows, columns, stream_of(seed, rows * columns)};
}

RoundSeeds round_seeds(const Secret32& seed, size_t self, size_t parties) {
  RoundSeeds seeds{.b = derived(seed, TupleBytes().add("b"))};
  for (size_t m = 0; m < parties; ++m)
    if (m != self) seeds.c[m] = derived(seed, TupleBytes().add("c").add(uint64_t{m}));
  return seeds;
}

GradientDealer::GradientDealer(size_t records, std::vector<size_t> columns,
                               std::span<const Secret32> setups)
    : records_(records), columns_(std::move(columns)) {
  check(setups.size() == columns_.size());
  for (size_t m = 0; m < columns_.size(); ++m)
    masks_.push_back(matrix_of(setups[m], records, columns_[m]));
}

void GradientDealer::begin_round(std::span<const Secret32> seeds) {
  check(seeds.size() == columns_.size());
  round_.clear();
  for (size_t k = 0; k < seeds.size(); ++k)
    round_.push_back(round_seeds(seeds[k], k, seeds.size()));
  corrected_.assign(columns_.size(), false);
}

Words<Word> GradientDealer::correction_for(size_t party, const std::function<int64_t()>& noise) {
  check(!corrected_.at(party));  // A second one would let the party take the noise off.
  corrected_[party] = true;
  Words<Word> sum(columns_[party]);
  for (Word& word : sum) word = static_cast<Word>(noise());
  for (size_t k = 0; k < columns_.size(); ++k) {
    if (k == party) continue;
    const Words<Word> b = stream_of(round_[k].b, records_);
    const Words<Word> c = stream_of(round_[k].c.at(party), columns_[party]);
    add_to<Word>(sum, correction<Word>(masks_[party], b, c));
  }
  return sum;
}

WordMatrix<Word> GradientParty::setup(const Secret32& seed) {
  WordMatrix<Word> masked = matrix_of(seed, rows_->size(), rows_->columns());
  for (Word& word : masked.words) word = -word;
  for (size_t i = 0; i < rows_->size(); ++i)
    for (size_t k = 0; k < rows_->at(i).size(); ++k)
      masked.words[i * rows_->columns() + rows_->at(i)[k]] +=
          static_cast<Word>(rows_->values(i)[k]);
  return masked;
}

void GradientParty::take_setup(size_t from, WordMatrix<Word> masked) {
  check(from != self_ && from < parties_ && masked.rows == rows_->size());
  others_[from] = std::move(masked);
}

GradientParty::Sent GradientParty::begin_round(const privacy::ToMask<std::vector<int64_t>>& scores,
                                               const RoundSeeds& seeds) {
  check(scores.value_.size() == rows_->size() && others_.size() + 1 == parties_);
  own_.assign(scores.value_.begin(), scores.value_.end());
  const Words<Word> b = stream_of(seeds.b, own_.size());
  Sent sent{.masked = minus<Word>(own_, b), .shares = {}};
  for (const auto& [m, masked] : others_)
    sent.shares[m] = share_for<Word>(masked, b, stream_of(seeds.c.at(m), masked.columns));
  return sent;
}

std::vector<int64_t> GradientParty::end_round(const Words<Word>& correction,
                                              const std::map<size_t, Words<Word>>& masked,
                                              const std::map<size_t, Words<Word>>& shares) const {
  check(masked.size() + 1 == parties_ && shares.size() + 1 == parties_);
  Words<Word> all = own_, sum = correction;
  for (const auto& [k, words] : masked) add_to<Word>(all, words);
  for (const auto& [k, words] : shares) add_to<Word>(sum, words);
  add_to<Word>(sum, rows_->combination(all));
  return {sum.begin(), sum.end()};
}

}  // namespace parley::protocol
