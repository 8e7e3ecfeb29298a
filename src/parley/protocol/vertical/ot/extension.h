// From 128 base transfers to as many as are needed: the extension of Ishai, Kilian, Nissim and
// Petrank (2003) with the consistency check of Roy (2022, "SoftSpokenOT", k = 1). Each transfer
// gives the sender two random strings and the receiver the one that its choice names.
//
// In chunks. R has a matrix T of 128 columns, from its keys; it sends U_j = T_j ^ (stream of the
// other key) ^ choices. S, which knows one key of each pair, makes Q_j = T_j ^ delta_j choices. Row
// i of Q is then row i of T, or that ^ delta: hashed, these are the two strings.
//   R -> S: U                          S -> R: h, drawn when U is there
//   R -> S: hashes of choices and T    S: compares them with those of its Q, or the session ends
// An R that uses other choices in some columns passes with probability 2^-(columns), as if it had
// guessed as many bits of delta. The last 128 transfers of a chunk have random choices and are
// never used: they hide what the hashes tell.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/base/result.h"
#include "parley/protocol/vertical/ot/base_transfer.h"

namespace parley::protocol::ot {

/// Most transfers of one chunk, those that are never used included.
inline constexpr size_t kChunk = size_t{1} << 20;

/// How many transfers are made for `used` ones: a multiple of 128, and 128 more.
size_t extended_size(size_t used);

/// U, column by column, `extended_size` bits each.
struct ExtensionColumns {
  Blocks bits;
};
struct ExtensionProof {
  Block choices;
  std::array<Block, kBase> columns{};
};

/// The choices of a chunk as bits, and random ones behind them.
Blocks packed_choices(std::span<const uint8_t> choices, Entropy& entropy);

/// U of a chunk whose streams begin at block `first`; T is written to `own`.
ExtensionColumns extension_columns(const KeyPairs& keys, uint64_t first,
                                   std::span<const Block> choices, Blocks& own);

/// R's side. Chunks one after the other: extend, prove, strings.
class ExtensionReceiver {
 public:
  ExtensionReceiver(const Direction& direction, const KeyPairs& keys);

  /// `choices` packed, of which `used` are; at most kChunk in all.
  ExtensionColumns extend(Blocks choices, size_t used);
  /// Once for a chunk: with two values of h, the choices would show.
  ExtensionProof prove(const Block& h);
  /// The chosen string of each transfer. Ends the chunk.
  Blocks strings();

 private:
  Direction direction_;
  KeyPairs keys_;
  uint64_t blocks_ = 0;     // of the streams, used up by earlier chunks
  uint64_t transfers_ = 0;  // numbered through all chunks
  size_t used_ = 0;
  bool proved_ = false;
  Blocks choices_, columns_;
};

/// S's side. Chunks one after the other: receive, check, strings.
class ExtensionSender {
 public:
  ExtensionSender(const Direction& direction, const ChosenKeys& keys);

  /// Gives h. An error if the columns have another length than `used` transfers need.
  Result<Block> receive(size_t used, const ExtensionColumns& columns, Entropy& entropy);
  /// An error ends the session: the receiver has not kept to the protocol.
  Result<void> verify(const ExtensionProof& proof);
  /// Both strings of each transfer. Ends the chunk; nothing that depends on Q leaves before verify.
  BlockPairs strings();

 private:
  Direction direction_;
  ChosenKeys keys_;
  uint64_t blocks_ = 0, transfers_ = 0;
  size_t used_ = 0;
  bool verified_ = false;
  Block h_;
  Blocks columns_;
};

/// 128 columns of bits become rows of 128 bits. Public for tests.
Blocks rows_of(std::span<const Block> columns, size_t rows);

}  // namespace parley::protocol::ot
