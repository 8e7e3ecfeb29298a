// Checks of the peer after a handshake: each function checks one property, and says what it found
// or what is wrong.
#pragma once

#include <string>

#include "parley/net/doctor/dial.h"
#include "parley/net/doctor/doctor.h"

namespace parley::net {

using Seen = Result<std::string>;

/// Does it speak TLS?
Seen look_at_tls(const Patient& patient, const Handshake& shaken);
/// Is its certificate our authority's, a learner's, and valid by our clock?
Seen look_at_peer(const Credentials& credentials, const Handshake& shaken, Clock& clock);
/// Is it the learner that the charter names?
Seen look_at_learner(const Patient& patient, const Handshake& shaken);
/// Does it accept our certificate?
Seen look_at_welcome(const Handshake& shaken);
/// Does it speak the protocol of our version?
Seen look_at_protocol(const Patient& patient, const Handshake& shaken);

}  // namespace parley::net
