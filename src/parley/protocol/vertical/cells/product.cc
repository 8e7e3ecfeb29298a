#include "parley/protocol/vertical/cells/product.h"

#include <algorithm>
#include <utility>

namespace parley::protocol::ot {
namespace {

size_t corrections_of(const Cells& cells) { return 2 * (transfers_of(cells) - cells.size()); }

/// Calls use(first, count) for few records at a time: the words of all leaves of a chunk would fill
/// gigabytes.
template <class Use>
void each_batch(size_t records, const Cell& cell, const Use& use) {
  const size_t batch = std::max<size_t>(1, 2048 / cell.leaves());
  for (size_t at = 0; at < records; at += batch) use(at, std::min(batch, records - at));
}

}  // namespace

ProductSender::ProductSender(const Direction& direction, Cells cells, size_t own_columns,
                             size_t columns)
    : cells_(std::move(cells)),
      own_columns_(own_columns),
      words_(direction, columns),
      trees_(direction),
      sums_(leaf_sums(cells_, columns)) {}

ProductLetter ProductSender::add(std::span<const std::array<Block, 2>> strings,
                                 std::span<const uint64_t> numbers) {
  const size_t columns = words_.columns(), stride = transfers_of(cells_);
  const size_t records = numbers.size() / columns;
  check(numbers.size() == records * columns && strings.size() == records * stride);
  ProductLetter letter;
  letter.words.reserve(cells_.size() * numbers.size());
  WipedVector<uint64_t> words;
  for (size_t e = 0, offset = 0; e < cells_.size(); offset += cells_[e++].height)
    each_batch(records, cells_[e], [&](size_t at, size_t count) {
      const Trees::Grown grown =
          trees_.grow(cells_[e].height, count, {strings.subspan(at * stride), offset, stride});
      letter.corrections.insert(letter.corrections.end(), grown.corrections.begin(),
                                grown.corrections.end());
      words_.of(grown.leaves, words);
      add_all(words, sums_[e]);
      const size_t first = letter.words.size(), size = sums_[e].values.size();
      const auto from = numbers.begin() + static_cast<ptrdiff_t>(at * columns);
      letter.words.insert(letter.words.end(), from, from + static_cast<ptrdiff_t>(count * columns));
      for (size_t i = 0; i < count; ++i)
        add_leaves(std::span(words).subspan(i * size, size),
                   std::span(letter.words).subspan(first + i * columns, columns));
    });
  return letter;
}

Words ProductSender::share() const { return gathered(cells_, sums_, own_columns_); }

ProductReceiver::ProductReceiver(const Direction& direction, Cells cells, size_t own_columns,
                                 size_t columns)
    : cells_(std::move(cells)),
      own_columns_(own_columns),
      words_(direction, columns),
      trees_(direction),
      sums_(leaf_sums(cells_, columns)) {}

Result<void> ProductReceiver::add(std::span<const Block> strings, std::span<const uint32_t> leaves,
                                  const ProductLetter& letter) {
  const size_t columns = words_.columns(), stride = transfers_of(cells_);
  const size_t records = leaves.size() / cells_.size();
  check(leaves.size() == records * cells_.size() && strings.size() == records * stride);
  if (letter.corrections.size() != records * corrections_of(cells_) ||
      letter.words.size() != records * cells_.size() * columns)
    return Error{Code::kIntegrity, "a letter of a shared product that has another length"};
  std::span<const Block> corrections = letter.corrections;
  std::span<const uint64_t> sent = letter.words;
  WipedVector<uint32_t> chosen;
  WipedVector<uint64_t> words;
  for (size_t e = 0, offset = 0; e < cells_.size(); offset += cells_[e++].height)
    each_batch(records, cells_[e], [&](size_t at, size_t count) {
      chosen.clear();
      for (size_t i = 0; i < count; ++i) chosen.push_back(leaves[(at + i) * cells_.size() + e]);
      const size_t needed = 2 * count * (cells_[e].height - 1);
      const Blocks grown =
          trees_.puncture(cells_[e].height, chosen, {strings.subspan(at * stride), offset, stride},
                          corrections.first(needed));
      corrections = corrections.subspan(needed);
      words_.of(grown, words);
      const size_t size = sums_[e].values.size();
      for (size_t i = 0; i < count; ++i)
        fill_missing(std::span(words).subspan(i * size, size), sent.subspan(i * columns, columns),
                     chosen[i], cells_[e].leaves());
      sent = sent.subspan(count * columns);
      add_all(words, sums_[e]);
    });
  return {};
}

Words ProductReceiver::share() const { return gathered(cells_, sums_, own_columns_); }

}  // namespace parley::protocol::ot
