// Letters without a dealer, from an owner that has all keys and writes what it likes: no opened
// letter crashes another owner, makes it pay twice, or lets two owners end with other numbers.
//
// The first byte says how many owners there are. Then, for one letter of the second owner after the
// other: what is done to it, a length in two bytes, and bytes for that.
#include "support/letters.h"
#include "support/pair_agencies.h"

namespace {

using namespace parley;
using protocol::pair_test::Agencies, protocol::pair_test::Ghostwriter;

enum class Change : uint8_t { kNone, kReplace, kMix, kCut, kAppend };
constexpr size_t kChanges = 5, kHostile = 1;

bool change(const test::Letter& by, Bytes& letter) {
  const ByteView bytes = by.message;
  switch (Change(by.owner)) {
    case Change::kNone:
      return false;
    case Change::kReplace:
      letter.assign(bytes.begin(), bytes.end());
      return true;
    case Change::kMix:  // Whole letters of right length get far.
      for (size_t i = 0; i < std::min(letter.size(), bytes.size()); ++i) letter[i] ^= bytes[i];
      return true;
    case Change::kCut:
      letter.resize(letter.size() / 2);
      return true;
    case Change::kAppend:
      letter.insert(letter.end(), bytes.begin(), bytes.end());
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr size_t kRecords = protocol::pair_test::kRecords;
  Agencies job(data[0] % 2 == 0 ? test::cells_charter(1, kRecords)
                                : test::three_cells_charter(1, kRecords));
  Ghostwriter ghost(job.charter, kHostile, 1);
  const auto changes = test::letters_in(ByteView(data, size).subspan(1), kChanges);
  size_t next = 0;
  job.on_the_way = [&](protocol::Outgoing& letter) {
    ghost.rewrite(letter, [&](Bytes& text) {
      return next < changes.size() && change(changes[next++], text);
    });
  };
  const auto wrong = job.run();
  if (wrong) check(!wrong->what.empty());
  const protocol::VerticalOwner* first = nullptr;
  for (size_t i = 0; i < job.owners.size(); ++i) {
    check(job.owners[i]->ledger.last_round(job.charter.hash) <= 1);
    if (i == kHostile || !job.owners[i]->process->finished()) continue;
    const auto& owner = dynamic_cast<const protocol::VerticalOwner&>(*job.owners[i]->process);
    if (first != nullptr) check(owner.opened() == first->opened());
    first = &owner;
  }
  return 0;
}
