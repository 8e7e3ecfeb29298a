// Letters by which two owners find the ids that both have: any bytes are refused or taken, and what
// is taken counts nobody twice.
#include <algorithm>
#include <set>

#include "parley/protocol/vertical/ot/hashes.h"
#include "parley/protocol/vertical/ot/intersection.h"

namespace {

using namespace parley;
using protocol::ot::Intersection;

constexpr Hash kCharter{1};

/// The promise of this list, so that the list itself is looked at.
Bytes promise_of(ByteView list) {
  Hash hash;
  const ByteView rest[] = {list};
  protocol::ot::session_hash({.session = kCharter, .sender = 1}, "ids", {}, rest, hash);
  return {hash.begin(), hash.end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const learn::IdDigest ids[] = {{1}, {2}, {3}};
  Intersection own(kCharter, 0, ids, Secret32{2});
  if (size == 0) return 0;
  const ByteView all(data, size - 1);  // The last byte says how long the list is.
  const size_t cut = std::min<size_t>(all.size(), data[size - 1]);
  const ByteView list = all.first(cut), answer = all.subspan(cut);
  if (!own.take_commitment(promise_of(list))) return 0;
  const bool listed = bool(own.take_list(list, 4));
  check(!listed || (cut % 32 == 0 && cut > 0 && cut <= 4 * 32));
  if (own.take_answer(answer)) {
    const auto& common = own.common();
    check(answer.size() == 96 && std::set(common.begin(), common.end()).size() == common.size());
  }
  (void)own.take_hash(answer);
  return 0;
}
