// One TLS session on a socket that does not block: version 1.3 only, both certificates verified in
// the handshake, and the name in them, too. No tickets, no early data, no compression.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/net/identity/identity.h"

struct ssl_ctx_st;

namespace parley::net {

/// What all sessions of one side share.
class TlsContext {
 public:
  /// Lets those in whom the list names; where it is empty, every owner of the consortium.
  static TlsContext for_server(const Credentials& credentials, std::vector<Identity> expected);
  /// Talks to this party only.
  static TlsContext for_client(const Credentials& credentials, const Identity& learner);

  bool expects(const Identity& identity) const;
  const Revocations& revoked() const { return revoked_; }
  bool serves() const { return serves_; }
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  TlsContext(const Credentials& credentials, bool serves, std::vector<Identity> expected);

  bool serves_;
  Identity self_;
  std::vector<Identity> expected_;
  Revocations revoked_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

class TlsSession {
 public:
  /// The context must outlive it; the descriptor stays the caller's.
  TlsSession(const TlsContext& context, int descriptor, const std::string& host = "");
  TlsSession(TlsSession&&) noexcept;
  ~TlsSession();

  enum class Step { kDone, kWantsRead, kWantsWrite, kOver };
  Step shake_hands();
  /// At least one byte, unless it wants something or is over. Looks at a bounded number of bytes,
  /// whatever comes.
  Step read(std::span<uint8_t> room, size_t& count);
  Step write(ByteView bytes, size_t& count);
  /// Something has been received that nobody has read.
  bool has_pending() const;
  /// It is over because the peer says things of TLS only, again and again.
  bool sends_without_end() const;
  /// Tells the peer that nothing follows.
  void say_goodbye();

  /// Who its certificate says it is, once our authority's signature on it is verified; also where
  /// nobody of that name is expected.
  const std::optional<Identity>& peer() const;
  /// Of its certificate, as in the list of what was signed; empty before it showed one.
  const std::string& peer_serial() const;
  /// Did the handshake agree on our protocol?
  bool speaks_ours() const;
  /// Bytes that have come, before decryption.
  size_t received() const;
  /// What the peer complained about, if it did (RFC 8446, 6).
  std::optional<int> alert() const;
  /// Why it is over: words that we chose, or that OpenSSL has for it; empty: the peer hung up.
  std::string trouble() const;
  /// Is its own certificate what is wrong with the peer?
  bool is_peer_unverified() const;
  /// Because the authority has taken it back?
  bool is_peer_revoked() const;

  struct State;

 private:
  void begin_call();
  std::unique_ptr<State> state_;
};

/// Does the alert say that our certificate is not welcome? (RFC 8446, 6.2) Others are about bytes
/// that a wire may have spoiled.
bool is_about_our_certificate(int alert);
/// In words, what the alert says about our certificate.
std::string about_our_certificate(int alert);
/// After the handshake: our name is not on the list.
bool is_not_on_the_list(int alert);
/// The peer speaks another version of TLS, or of the protocol in it.
bool is_about_version(int alert);

}  // namespace parley::net
