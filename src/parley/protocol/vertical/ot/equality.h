// Do two parties hold the same words? Both learn the answer and nothing else: each word list
// becomes a point of the group, and only points under secret exponents of both are compared. A hash
// of the words would not do: they are exact functions of few records, and could be guessed.
//
//   first -> second:  A = a h(its words)
//   second -> first:  B = b h(its words), and a hash of b A
//   first -> second:  a B           the second accepts iff this is b A
//   second -> first:  b A           the first accepts iff this is a B and fits the hash
// Without the hash the second could echo a B, and so test a guess unnoticed.
#pragma once

#include <optional>
#include <span>

#include "parley/protocol/vertical/ot/group.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

struct EqualityAnswer {
  Element b{};
  Hash committed{};
};

/// The party that begins: the sender of the direction.
class EqualityFirst {
 public:
  EqualityFirst(const Direction& direction, std::span<const uint64_t> words, Entropy& entropy);
  Element letter() const { return a_; }
  /// a B. An error for what is no element.
  Result<Element> reply(const EqualityAnswer& answer);
  /// Are the words equal? Needs the reply before.
  bool conclude(const Element& opened) const;

 private:
  Direction direction_;
  Scalar scalar_;
  Element a_{};
  std::optional<Element> both_;
  Hash committed_{};
};

/// The receiver of the direction.
class EqualitySecond {
 public:
  EqualitySecond(const Direction& direction, std::span<const uint64_t> words, Entropy& entropy);
  Result<EqualityAnswer> answer(const Element& a);
  /// b A, to be sent, if the words are equal; else nothing may be sent.
  std::optional<Element> conclude(const Element& reply) const;

 private:
  Direction direction_;
  Scalar scalar_;
  Wiped<Element> point_{};  // of its words: who knew it could try words
  std::optional<Element> both_;
};

}  // namespace parley::protocol::ot
