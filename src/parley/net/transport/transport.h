// What both ends of a connection share: the names of the calls, how bytes and errors travel, and
// gRPC's own messages.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <functional>
#include <string>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::net {

/// An owner attends a learner's job, or talks to a neighbour where there is no learner.
inline constexpr char kAttend[] = "/parley.v1.Learner/Attend";
inline constexpr char kTalk[] = "/parley.v1.Neighbour/Talk";

/// A silent peer is pinged, so that one that vanished is noticed.
inline constexpr std::chrono::seconds kKeepalive{20}, kKeepaliveTimeout{20};

/// Takes one line of a daemon's log, which states public facts only.
using Log = std::function<void(const std::string& line)>;

grpc::ByteBuffer to_buffer(const Bytes& bytes);
Bytes to_bytes(const grpc::ByteBuffer& buffer);

/// An error as the status that ends a stream, and back. Statuses that only the transport makes
/// (a broken connection, a missed deadline) become kUnavailable: worth another try.
grpc::Status to_status(const Error& error);
Error to_error(const grpc::Status& status);

/// From now on gRPC reports what it refused before any call existed, such as a failed handshake,
/// to `log`, and nothing to stderr.
void log_refused_handshakes(Log log);
/// Says what was held back of it; to be called now and then.
void tell_refused_handshakes();

}  // namespace parley::net
