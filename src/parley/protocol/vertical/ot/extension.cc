#include "parley/protocol/vertical/ot/extension.h"

#include <algorithm>
#include <utility>

#include "parley/protocol/vertical/ot/field.h"

namespace parley::protocol::ot {
namespace {

/// Gives the memory back, which wipes it.
void forget(Blocks& blocks) { blocks = Blocks(); }

/// 64 rows of 64 bits: bit c of row r and bit r of row c change places, by halves, quarters, ...
void transpose64(uint64_t (&rows)[64]) {
  uint64_t mask = 0x00000000ffffffff;
  for (unsigned width = 32; width != 0; width >>= 1, mask ^= mask << width) {
    for (unsigned r = 0; r < 64; r = (r + width + 1) & ~width) {
      const uint64_t swap = ((rows[r] >> width) ^ rows[r + width]) & mask;
      rows[r] ^= swap << width;
      rows[r + width] ^= swap;
    }
  }
}

uint64_t half(const Block& block, size_t which) { return which == 0 ? block.low : block.high; }
uint64_t& half(Block& block, size_t which) { return which == 0 ? block.low : block.high; }

}  // namespace

size_t extended_size(size_t used) { return (used + 127) / 128 * 128 + 128; }

Blocks packed_choices(std::span<const uint8_t> choices, Entropy& entropy) {
  Blocks bits(extended_size(choices.size()) / 128);
  for (Block& block : bits) block = draw_block(entropy);
  for (size_t i = 0; i < choices.size(); ++i) {
    uint64_t& word = half(bits[i / 128], i / 64 % 2);
    const uint64_t place = uint64_t{1} << (i % 64);
    word = (word & ~place) | (place & mask_of(choices[i] & 1));
  }
  return bits;
}

Blocks rows_of(std::span<const Block> columns, size_t rows) {
  const size_t height = columns.size() / kBase;  // blocks of a column
  Blocks out(height * 128);
  uint64_t square[64];
  for (size_t block = 0; block < height; ++block)
    for (size_t down = 0; down < 2; ++down)
      for (size_t right = 0; right < 2; ++right) {
        for (size_t j = 0; j < 64; ++j)
          square[j] = half(columns[(64 * right + j) * height + block], down);
        transpose64(square);
        for (size_t i = 0; i < 64; ++i) half(out[128 * block + 64 * down + i], right) = square[i];
      }
  wipe(square, sizeof square);
  out.resize(rows);
  return out;
}

ExtensionColumns extension_columns(const KeyPairs& keys, uint64_t first,
                                   std::span<const Block> choices, Blocks& own) {
  const size_t height = choices.size();
  own.resize(kBase * height);
  ExtensionColumns sent{Blocks(kBase * height)};
  for (size_t j = 0; j < kBase; ++j) {
    const auto t = std::span(own).subspan(j * height, height);
    const auto u = std::span(sent.bits).subspan(j * height, height);
    key_stream(keys[j][0], first, t);
    key_stream(keys[j][1], first, u);
    for (size_t i = 0; i < height; ++i) u[i] ^= t[i] ^ choices[i];
  }
  return sent;
}

ExtensionReceiver::ExtensionReceiver(const Direction& direction, const KeyPairs& keys)
    : direction_(direction), keys_(keys) {}

ExtensionColumns ExtensionReceiver::extend(Blocks choices, size_t used) {
  check(columns_.empty() && extended_size(used) <= kChunk &&
        choices.size() == extended_size(used) / 128);
  used_ = used;
  proved_ = false;
  choices_ = std::move(choices);
  ExtensionColumns sent = extension_columns(keys_, blocks_, choices_, columns_);
  blocks_ += choices_.size();
  return sent;
}

ExtensionProof ExtensionReceiver::prove(const Block& h) {
  check(!columns_.empty() && !std::exchange(proved_, true));
  const size_t height = choices_.size();
  ExtensionProof proof{.choices = column_hash(h, choices_)};
  for (size_t j = 0; j < kBase; ++j)
    proof.columns[j] = column_hash(h, std::span(columns_).subspan(j * height, height));
  return proof;
}

Blocks ExtensionReceiver::strings() {
  check(proved_);
  Blocks rows = rows_of(columns_, used_);
  Blocks strings(used_);
  hash_transfers(Aes(public_key(direction_, "hash")), rows, transfers_, strings);
  transfers_ += used_;
  forget(choices_);
  forget(columns_);
  return strings;
}

ExtensionSender::ExtensionSender(const Direction& direction, const ChosenKeys& keys)
    : direction_(direction), keys_(keys) {}

Result<Block> ExtensionSender::receive(size_t used, const ExtensionColumns& columns,
                                       Entropy& entropy) {
  check(columns_.empty() && extended_size(used) <= kChunk);
  const size_t height = extended_size(used) / 128;
  if (columns.bits.size() != kBase * height)
    return Error{Code::kIntegrity, "columns of transfers that have another length"};
  used_ = used;
  verified_ = false;
  columns_.resize(kBase * height);
  for (size_t j = 0; j < kBase; ++j) {
    const auto q = std::span(columns_).subspan(j * height, height);
    key_stream(keys_.keys[j], blocks_, q);
    const uint64_t mask = mask_of(half(keys_.delta, j / 64) >> (j % 64) & 1);
    for (size_t i = 0; i < height; ++i) q[i] ^= columns.bits[j * height + i] & mask;
  }
  blocks_ += height;
  h_ = draw_block(entropy);
  return h_;
}

Result<void> ExtensionSender::verify(const ExtensionProof& proof) {
  check(!columns_.empty());
  const size_t height = columns_.size() / kBase;
  Block wrong;  // All columns are looked at, so that time does not tell which one is off.
  for (size_t j = 0; j < kBase; ++j) {
    const uint64_t mask = mask_of(half(keys_.delta, j / 64) >> (j % 64) & 1);
    const Block mine = column_hash(h_, std::span(columns_).subspan(j * height, height));
    const Block off = mine ^ proof.columns[j] ^ (proof.choices & mask);
    wrong = {wrong.low | off.low, wrong.high | off.high};
  }
  if (wrong != Block{}) {
    forget(columns_);
    return Error{Code::kIntegrity,
                 "the check of oblivious transfers failed: the peer made other "
                 "choices in some of its columns"};
  }
  verified_ = true;
  return {};
}

BlockPairs ExtensionSender::strings() {
  check(std::exchange(verified_, false));
  Blocks rows = rows_of(columns_, used_);
  const Aes pi(public_key(direction_, "hash"));
  Blocks first(used_), second(used_);
  hash_transfers(pi, rows, transfers_, first);
  for (Block& row : rows) row ^= keys_.delta;
  hash_transfers(pi, rows, transfers_, second);
  transfers_ += used_;
  BlockPairs strings(used_);
  for (size_t i = 0; i < used_; ++i) strings[i] = {first[i], second[i]};
  forget(columns_);
  return strings;
}

}  // namespace parley::protocol::ot
