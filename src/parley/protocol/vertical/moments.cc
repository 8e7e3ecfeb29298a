#include "parley/protocol/vertical/moments.h"

#include <utility>

namespace parley::protocol {

MomentsDealer::MomentsDealer(size_t records, learn::MomentsLayout layout,
                             std::span<const Secret32> setups)
    : layout_(std::move(layout)) {
  check(setups.size() == layout_.parties());
  for (size_t m = 0; m < layout_.parties(); ++m)
    masks_.push_back(matrix_of(setups[m], records, layout_.width(m)));
}

Words<Word> MomentsDealer::correction_for(size_t party, std::span<const Secret32> rounds,
                                          const std::function<int64_t()>& noise) const {
  check(rounds.size() == layout_.parties());
  Words<Word> all;
  for (size_t k = party + 1; k < layout_.parties(); ++k) {
    Words<Word> sum = transposed(masks_[party], masks_[k]);
    const RoundSeeds seeds = round_seeds(rounds[k], k, layout_.parties());
    const Words<Word> c = stream_of(seeds.c.at(party), sum.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<Word>(noise()) - c[i];
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return all;
}

template <class Take>
void MomentsParty::each_of(size_t record, const Take& take) const {
  const auto at = columns_->rows.at(record);
  const auto values = columns_->rows.values(record);
  for (size_t k = 0; k < at.size(); ++k) take(size_t{at[k]}, static_cast<Word>(values[k]));
  if (!columns_->labels.empty())
    take(columns_->rows.columns(), static_cast<Word>(columns_->labels[record]));
}

WordMatrix<Word> MomentsParty::setup(const Secret32& seed) {
  mask_ = matrix_of(seed, columns_->rows.size(), layout_.width(self_));
  WordMatrix<Word> masked = mask_;
  for (Word& word : masked.words) word = -word;
  for (size_t i = 0; i < masked.rows; ++i)
    each_of(i, [&](size_t j, Word value) { masked.words[i * masked.columns + j] += value; });
  return masked;
}

void MomentsParty::take_setup(size_t from, Words<Word> masked) {
  const size_t rows = columns_->rows.size(), width = layout_.width(from);
  check(from != self_ && masked.size() == rows * width);
  others_[from] = {rows, width, std::move(masked)};
}

Words<Word> MomentsParty::own(const privacy::Gaussian& noise, const privacy::Gaussian& beside,
                              Entropy& entropy) const {
  const size_t d = layout_.columns(self_);
  Words<Word> sum(layout_.own(self_));
  // Upper triangle, row by row, then the label's products.
  const auto place = [&](size_t j, size_t k) {
    return k == d ? d * (d + 1) / 2 + j : j * d - j * (j + 1) / 2 + k;
  };
  for (size_t i = 0; i < columns_->rows.size(); ++i)
    each_of(i, [&](size_t j, Word one) {
      each_of(i, [&](size_t k, Word other) {
        if (j <= k && j < d) sum[place(j, k)] += one * other;
      });
    });
  for (size_t j = 0; j < d; ++j)
    for (size_t k = j; k < d; ++k)
      sum[place(j, k)] += static_cast<Word>((j == k ? noise : beside).sample(entropy));
  for (size_t at = d * (d + 1) / 2; at < sum.size(); ++at)
    sum[at] += static_cast<Word>(beside.sample(entropy));
  return sum;
}

Words<Word> MomentsParty::share_for(size_t earlier, const RoundSeeds& seeds) const {
  check(earlier < self_);
  Words<Word> share = transposed(others_.at(earlier), mask_);
  add_to<Word>(share, stream_of(seeds.c.at(earlier), share.size()));
  return share;
}

Words<Word> MomentsParty::opened_with(size_t later, std::span<const Word> share,
                                      std::span<const Word> correction) const {
  check(later > self_);
  const WordMatrix<Word>& masked = others_.at(later);
  Words<Word> sum(share.begin(), share.end());
  add_to<Word>(sum, correction);
  for (size_t i = 0; i < masked.rows; ++i) {
    const Word* const row = masked.words.data() + i * masked.columns;
    each_of(i, [&](size_t j, Word value) {
      for (size_t k = 0; k < masked.columns; ++k) sum[j * masked.columns + k] += value * row[k];
    });
  }
  return sum;
}

}  // namespace parley::protocol
