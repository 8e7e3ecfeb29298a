// The messages between owners of columns, by the charter's rule. An exchange computes their
// contents; sealing, paying, and recovery after a broken session are VerticalOwner's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "parley/gate/columns_gate.h"
#include "parley/protocol/vertical/secret_product.h"
#include "parley/wire/vertical.h"

namespace parley::protocol {

/// Words for one owner. What it keeps for itself does not leave; like the rest it is vouched for.
struct Post {
  size_t to = 0;
  Words<Word> words{};
};

/// What a round has opened to this owner.
using Opened = std::vector<int64_t>;

class Exchange {
 public:
  virtual ~Exchange() = default;

  /// A session begins: what came in an earlier one is forgotten.
  virtual void begin_session() = 0;
  /// To every other owner, before round 1.
  virtual std::vector<Post> setup(const Secret32& seed) = 0;
  virtual Result<void> take_setup(size_t from, Words<Word> words) = 0;

  /// This owner stands before the round that follows those in `opened`.
  virtual void return_to(std::span<const Opened> opened) = 0;
  /// What leaves first in a round: all that it says about this owner's records, with or under what
  /// hides it. It must be paid for before it leaves.
  virtual Result<std::vector<Post>> begin_round(const wire::DealerShare& share) = 0;
  /// A letter of another owner in this round, and what is said in reply.
  virtual Result<std::vector<Post>> take(size_t from, Words<Word> words) = 0;
  /// Once everything is there.
  virtual std::optional<Opened> result() = 0;

  /// This owner's coefficients, after the last round.
  virtual std::vector<double> model() const = 0;
};

/// `noise` is a key that only this owner knows, for its data: what it draws itself is drawn the
/// same when a round is repeated. The gate must outlive the exchange.
std::unique_ptr<Exchange> make_exchange(gate::ColumnsGate& gate, const Secret32& noise);

/// By rule.
std::unique_ptr<Exchange> exchange_gradients(gate::ColumnsGate& gate);
std::unique_ptr<Exchange> exchange_moments(gate::ColumnsGate& gate, const Secret32& noise);
std::unique_ptr<Exchange> exchange_noisily(gate::ColumnsGate& gate, const Secret32& noise);

/// A message that does not belong here.
Error out_of_order(const std::string& what);

}  // namespace parley::protocol
