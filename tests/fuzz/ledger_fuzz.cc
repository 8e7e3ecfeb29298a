// No text crashes the readers of what a ledger's rows say, and what they accept comes back from
// their own writer: events, the state of a checkpoint.
#include <string>

#include "parley/ledger/storage/chain.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto note = ledger::note_from(text)) check(ledger::note_event(*note) == text);
  if (const auto said = ledger::budget_from(text)) check(ledger::budget_event(*said) == text);
  const auto chain_of = [](const std::string& state) {
    ledger::Chain chain{Hash{}};
    for (const int64_t id : {1, 2}) chain.declare({.id = id, .name = std::to_string(id)});
    return std::pair(chain.resume({.id = 9, .answer = Bytes(state.begin(), state.end())}), chain);
  };
  const auto [read, chain] = chain_of(text);
  if (!read) return 0;
  const auto [again, twin] = chain_of(chain.state());
  check(again && twin.state() == chain.state());
  return 0;
}
