// A side road of private data (flow.h): integers that leave only under masks, or as a sum with
// noise unknown to whoever sees it.
//
//   Raw --gate::ColumnsGate--> ToMask --protocol::GradientParty, MomentsParty--> masked words
//   Raw --gate::ColumnsGate--> ToMask --ot::PairSetup--> ToMask, a share --Opening--> with noise
//                                                                        --Rounds--> with noise
//
// Only these can look inside, so that unmasked columns, scores or shares cannot be put into a
// message.
#pragma once

#include <utility>

namespace parley::gate {
class ColumnsGate;
}
namespace parley::protocol {
class GradientParty;
class MomentsParty;
class Opening;
class Rounds;
namespace ot {
class PairSetup;
}
}  // namespace parley::protocol

namespace parley::privacy {

template <class T>
class ToMask {
 public:
  ToMask(ToMask&&) noexcept = default;
  ToMask(const ToMask&) = delete;
  ToMask& operator=(ToMask&&) = delete;

 private:
  friend class gate::ColumnsGate;
  friend class protocol::GradientParty;
  friend class protocol::MomentsParty;
  friend class protocol::Opening;
  friend class protocol::Rounds;
  friend class protocol::ot::PairSetup;
  friend struct ToMaskForTest;  // Defined under tests/ only.
  explicit ToMask(T value) : value_(std::move(value)) {}
  T value_;
};

}  // namespace parley::privacy
