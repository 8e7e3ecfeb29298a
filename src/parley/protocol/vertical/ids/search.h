// How owners without a dealer find the records that all of them have: two owners by
// ids/intersection.h, more by ids/joint_tokens.h. They exchange letters in a session of its own;
// three and more owners also send tokens to the learner.
#pragma once

#include <functional>
#include <memory>

#include "parley/gate/columns_gate.h"

namespace parley::protocol {

struct IdLetter {
  size_t to = 0;
  uint32_t number = 0;
  Bytes bytes{};
};

/// What is to be sent now.
struct IdsSaid {
  std::vector<IdLetter> letters{};
  std::optional<learn::IdDigests> tokens{};  // to the learner
};

class IdSearch {
 public:
  /// Keeps what an owner promised of its list: an error if it promised another one before.
  using KeepPromise = std::function<Result<void>(size_t owner, const Hash& list)>;

  virtual ~IdSearch() = default;

  virtual IdsSaid begin() = 0;
  virtual Result<IdsSaid> take(size_t from, uint32_t number, const Bytes& letter) = 0;
  virtual Result<IdsSaid> take_common(const learn::IdDigests& tokens) = 0;
  /// Have all found the same?
  virtual bool is_done() const = 0;
  /// Then: places among the ids of those that all have, in the order that all share.
  virtual const std::vector<uint64_t>& common() const = 0;
  virtual Hash hash_of_common() const = 0;
};

std::unique_ptr<IdSearch> id_search(const gate::ColumnsGate& gate, size_t owners,
                                    const Secret32& secret, IdSearch::KeepPromise keep);

}  // namespace parley::protocol
