#include "parley/protocol/vertical/exchange.h"

namespace parley::protocol {

Error out_of_order(const std::string& what) {
  return {Code::kIntegrity, what + ", which was not due",
          "The learner or another owner does not keep to the protocol."};
}

std::unique_ptr<Exchange> make_exchange(gate::ColumnsGate& gate, const Secret32& noise) {
  switch (gate.terms().rule) {
    case charter::Rule::kStatistics:
      return exchange_moments(gate, noise);
    case charter::Rule::kNoisySharing:
      return exchange_noisily(gate, noise);
    default:
      return exchange_gradients(gate);
  }
}

}  // namespace parley::protocol
