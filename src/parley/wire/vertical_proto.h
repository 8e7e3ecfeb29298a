// Messages of wire/vertical.h to protobuf and back, the size of every field checked.
#pragma once

#include "parley/wire/message.h"

namespace parley::v1 {
class DealerShare;
class Finished;
class Hello;
class IdTokens;
class ModelPart;
class Sealed;
class Session;
}  // namespace parley::v1

namespace parley::wire {

void put(const VerticalHello& hello, v1::Hello& out);
void put(const Sealed& sealed, v1::Sealed& out);
void put(const Session& session, v1::Session& out);
void put(const DealerShare& share, v1::DealerShare& out);
void put(const ModelPart& part, v1::ModelPart& out);
void put(const IdTokens& tokens, v1::IdTokens& out);

/// None in the greeting of another protocol.
Result<std::optional<VerticalHello>> vertical_hello_of(const v1::Hello& proto);
Result<Sealed> sealed_of(const v1::Sealed& proto);
Result<Session> session_of(const v1::Session& proto);
Result<DealerShare> dealer_share_of(const v1::DealerShare& proto);
Result<ModelPart> model_part_of(const v1::ModelPart& proto);
Result<IdTokens> id_tokens_of(const v1::IdTokens& proto);
Result<std::vector<ModelPart>> model_parts_of(const v1::Finished& proto);

}  // namespace parley::wire
