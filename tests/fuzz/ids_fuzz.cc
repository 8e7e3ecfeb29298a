// Letters by which owners find the ids that all have: any bytes are refused or taken, and what is
// taken counts nobody twice.
#include <algorithm>
#include <set>

#include "parley/protocol/vertical/ids/intersection.h"
#include "parley/protocol/vertical/ids/joint_tokens.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace {

using namespace parley;
using protocol::ot::Intersection, protocol::ot::JointTokens;

constexpr Hash kCharter{1};

/// The promise of this list, so that the list itself is looked at.
Bytes promise_of(ByteView list) {
  Hash hash;
  const ByteView rest[] = {list};
  protocol::ot::session_hash({.session = kCharter, .sender = 1}, "ids", {}, rest, hash);
  return {hash.begin(), hash.end()};
}

/// Three owners: a promise with this list, the list, and an answer that proves nothing.
void feed_joint_tokens(std::span<const learn::IdDigest> ids, ByteView list, ByteView answer) {
  JointTokens own(kCharter, 0, 3, ids, Secret32{2});
  const JointTokens third(kCharter, 2, 3, ids, Secret32{3});
  Bytes promise = promise_of(list);
  const Bytes honest = third.promise();
  promise.insert(promise.end(), honest.end() - 32, honest.end());
  check(bool(own.take_promise(1, promise)));
  static_cast<void>(bool(own.take_promise(2, answer)));
  const auto given = own.take_list(1, list, 4);
  check(!given || given->size() == list.size() + 64);
  check(!own.take_answer(1, answer));  // Nobody guesses a proof.
  check(!own.take_common(ids));        // Nor was anything asked.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const learn::IdDigest ids[] = {{1}, {2}, {3}};
  Intersection own(kCharter, 0, ids, Secret32{2});
  if (size == 0) return 0;
  const ByteView all(data, size - 1);  // The last byte says how long the list is.
  const size_t cut = std::min<size_t>(all.size(), data[size - 1]);
  const ByteView list = all.first(cut), answer = all.subspan(cut);
  feed_joint_tokens(ids, list, answer);
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
