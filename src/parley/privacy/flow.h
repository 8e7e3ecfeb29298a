// The one-way road of private data. Each stop is a type, each arrow one function:
//
//   Raw --gate::ClipAndSum--> Bounded<L1|L2> --ledger::Ledger::pay--> Released --wire--> out
//                                       |
//                                       +--ledger::Ledger::pay_share, with a Mask--> Masked
//                                       --wire-->
//
// gate::EngineSum is the first arrow where the records stay in a database. The lower arrow is for
// parts of a sum that nobody sees singly (protocol/secagg): what leaves is under a mask that the
// aggregation made, and without one there is nothing that could leave. Only the friends named below
// can look inside a stop, so a shortcut does not compile. Values are integers on the charter's
// public lattice (learn/kernel/lattice.h); sums of integers do not depend on their order, and
// integer noise has no floating-point holes (Mironov 2012).
#pragma once

#include <openssl/crypto.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/math/norm.h"

namespace parley::gate {
class ClipAndSum;
class ColumnsGate;
class EngineSum;
class OwnFile;
}  // namespace parley::gate
namespace parley::ledger {
class Ledger;
}
namespace parley::protocol {
class AggregationMember;
}

namespace parley::privacy {

/// A value computed from private records. It can be computed on through `map`, which stays raw. By
/// convention, and in review, no lambda carries it out: the type cannot stop a capture by
/// reference.
template <class T>
class Raw {
 public:
  explicit Raw(T value) : value_(std::move(value)) {}

  template <class F>
  Raw<std::invoke_result_t<F, const T&>> map(F&& f) const {
    return Raw<std::invoke_result_t<F, const T&>>(f(value_));
  }

 private:
  friend class gate::ClipAndSum;
  friend class gate::ColumnsGate;
  friend class gate::EngineSum;
  friend class gate::OwnFile;  // Writes a file for its owner alone.
  T value_;
};

/// A sum of integer vectors over records, or a model of them. Replacing every record of one privacy
/// unit moves it by at most `sensitivity` in Norm; its maker has proved that.
template <class Norm>
class Bounded {
 public:
  Bounded(Bounded&&) noexcept = default;
  Bounded& operator=(Bounded&&) = delete;
  ~Bounded() { OPENSSL_cleanse(sum_.data(), sum_.size() * sizeof(int64_t)); }  // It is exact.
  size_t dimension() const { return sum_.size(); }
  double sensitivity() const { return sensitivity_; }

 private:
  friend class gate::ClipAndSum;
  friend class gate::EngineSum;  // The same sums, made by the owner's database.
  friend class ledger::Ledger;
  friend struct BoundedForTest;  // Defined under tests/ only.
  Bounded(std::vector<int64_t> sum, double sensitivity)
      : sum_(std::move(sum)), sensitivity_(sensitivity) {}
  std::vector<int64_t> sum_;
  double sensitivity_;
};

/// The kinds of releases. All are paid for in the same way; each kind is numbered 1, 2, 3, ...
/// A Gram matrix comes before the answers or, after an alarm, between the first and further ones.
enum class ReleaseKind { kAnswer, kEvaluation, kCount, kGram, kAfterAlarm };
inline constexpr size_t kReleaseKinds = 5;

/// What an owner says it has spent on a charter. Depends on public numbers only.
struct Receipt {
  uint32_t round = 0;
  std::string event;         // DpEvent JSON of this answer
  double epsilon_spent = 0;  // on this charter, this answer included
  double delta_spent = 0;
  Hash chain{};   // hash of the ledger row
  Hash query{};   // of the question, as the ledger stores it
  Hash answer{};  // SHA-256 of the values, 8 bytes each, little-endian
  Hash job{};     // of all questions and answers so far: job_after
  ReleaseKind kind = ReleaseKind::kAnswer;
  bool operator==(const Receipt&) const = default;
};

/// One signature vouches for all answers of a job up to its own. `before` is zero at first.
inline Hash job_after(const Hash& before, const Hash& query, const Hash& answer) {
  return TupleBytes().add(before).add(query).add(answer).sha256();
}

/// Differentially private, durably recorded, and free to leave the process.
class Released {
 public:
  const std::vector<int64_t>& values() const { return values_; }
  const Receipt& receipt() const { return receipt_; }

 private:
  friend class ledger::Ledger;
  Released(std::vector<int64_t> values, Receipt receipt)
      : values_(std::move(values)), receipt_(std::move(receipt)) {}
  std::vector<int64_t> values_;
  Receipt receipt_;
};

/// What hides one owner's part of a sum until the sum is there: all masks of one member of one
/// secure aggregation, added up modulo 2^64. Only the aggregation makes one, from keys that nobody
/// else has. It hides one vector: it cannot be copied, and moving from it empties it.
class Mask {
 public:
  Mask(Mask&& other) noexcept : words_(std::exchange(other.words_, {})) {}
  Mask& operator=(Mask&&) = delete;
  ~Mask() { OPENSSL_cleanse(words_.data(), words_.size() * sizeof(uint64_t)); }

 private:
  friend class protocol::AggregationMember;
  friend class ledger::Ledger;
  friend struct MaskForTest;  // Defined under tests/ only.
  explicit Mask(std::vector<uint64_t> words) : words_(std::move(words)) {}
  std::vector<uint64_t> words_;
};

/// One owner's part of a sum, with its share of the noise and under its mask: uniform numbers to
/// everyone but those who together can open the sum. Paid for as what that sum reveals, durably
/// recorded, and free to leave the process.
class Masked {
 public:
  /// Modulo 2^64, read as signed.
  const std::vector<int64_t>& values() const { return values_; }
  const Receipt& receipt() const { return receipt_; }

 private:
  friend class ledger::Ledger;
  Masked(std::vector<int64_t> values, Receipt receipt)
      : values_(std::move(values)), receipt_(std::move(receipt)) {}
  std::vector<int64_t> values_;
  Receipt receipt_;
};

/// Known to every party. Named constructors only, so that it cannot become a back door: a new one
/// is a privacy review.
class Public {
 public:
  /// The learner's parameters: post-processing of released answers and of the charter.
  static Public from_model(std::vector<double> theta) { return Public(std::move(theta)); }
  const std::vector<double>& values() const { return values_; }

 private:
  explicit Public(std::vector<double> values) : values_(std::move(values)) {}
  std::vector<double> values_;
};

}  // namespace parley::privacy
