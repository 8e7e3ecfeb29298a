// A TLS handshake in separate steps, so that each step can say what is wrong with it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/net/identity/x509.h"
#include "parley/net/transport/socket.h"

namespace parley::net {

/// What is known after a handshake, or after as much of it as there was.
struct Handshake {
  bool finished = false;
  std::string trouble{};       // why not, where it was no alert and no certificate
  bool is_tls = true;          // false: what came back was something else
  int verdict = X509_V_OK;     // on the peer's certificate
  Validity dates{};            // of the certificate that the verdict is about
  Certificate peer{};          // what it showed
  std::optional<int> alert{};  // the peer's complaint
  bool welcomed = false;       // the peer sent something after it had seen our certificate
  bool speaks_ours = false;    // the protocol of this version, frame.h
  std::string version{};
  Revocations revoked{};  // whom not to believe
};
/// Makes a handshake with these credentials, then waits for the first sign that they were accepted.
Handshake shake_hands(const Socket& socket, const std::string& host, const Credentials& credentials,
                      int deadline_ms, Clock& clock);

}  // namespace parley::net
