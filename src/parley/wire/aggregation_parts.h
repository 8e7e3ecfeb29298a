// How the messages of secure aggregation lie in protobuf; for wire/ only.
#pragma once

#include "parley/wire/message.h"

namespace parley::v1 {
class Aggregation;
}

namespace parley::wire {

void put(const FromMember& message, v1::Aggregation& out);
void put(const MaskedPart& part, v1::Aggregation& out);
void put(const ToMember& message, v1::Aggregation& out);

/// Taken apart, checking the size of every field and the length of every list.
Result<ToMember> to_member_of(const v1::Aggregation& proto);
Result<ReceivedFromMember> from_member_of(const v1::Aggregation& proto);

}  // namespace parley::wire
