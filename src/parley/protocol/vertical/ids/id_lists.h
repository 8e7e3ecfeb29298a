// What both ways of finding common records share (intersection.h, joint_tokens.h): ids as points of
// the group, lists of elements as letters, and a secret scalar and a random order derived from an
// owner's key, so that a session that begins anew repeats the same letters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/base/result.h"
#include "parley/learn/vertical/alignment.h"
#include "parley/protocol/vertical/ot/group.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol::ot {

/// The same for all owners of a job.
Element point_of(const Hash& charter, const learn::IdDigest& id);

/// An owner's secret of a job, for one purpose.
KeyedEntropy entropy_for(const Secret32& key, const Hash& charter, const char* what);
Scalar scalar_for(const Secret32& key, const Hash& charter, const char* what);

/// The numbers below `size` in a random order.
std::vector<uint64_t> shuffled(size_t size, Entropy& entropy);

Bytes bytes_of(std::span<const Element> elements);
/// Elements of a letter, or none if it is no list of such.
std::vector<Element> elements_in(ByteView letter);
bool has_one_twice(std::vector<Element> elements);

/// Of a list that an owner at this place promises: nobody can promise another's as its own.
Hash promise_of(const Hash& charter, uint32_t place, ByteView list);

/// An error for a list of no ids, of more than `most`, of another promise, or with one twice.
Result<std::vector<Element>> promised_list(ByteView letter, size_t most, const Hash& charter,
                                           uint32_t place, const Hash& promised);

Error wrong_list(const std::string& what);

}  // namespace parley::protocol::ot
