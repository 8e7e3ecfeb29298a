// TLS, and what each side has to say about the other's certificate.
#include <openssl/err.h>
#include <poll.h>

#include <csignal>

#include "parley/net/doctor/dial.h"
#include "parley/net/transport/frame.h"

namespace parley::net {
namespace {

using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;

Handshake& notes_of(const SSL* session) {
  return *static_cast<Handshake*>(SSL_get_app_data(session));
}

/// Notes the first complaint, and leaves the decision to OpenSSL: a peer that is not believed never
/// sees our certificate.
int note_verdict(int good, X509_STORE_CTX* store) {
  const auto* session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  Handshake& notes = notes_of(session);
  X509* peer = X509_STORE_CTX_get0_cert(store);
  if (!notes.peer && X509_up_ref(peer) == 1) notes.peer.reset(peer);
  if (good == 1 && X509_STORE_CTX_get_error_depth(store) == 0 &&
      notes.revoked.has(serial_of(peer))) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
    good = 0;
  }
  if (good == 1 || notes.verdict != X509_V_OK) return good;
  notes.verdict = X509_STORE_CTX_get_error(store);
  if (X509* blamed = X509_STORE_CTX_get_current_cert(store)) notes.dates = validity_of(blamed);
  return good;
}

void note_alert(const SSL* session, int where, int value) {
  const int alert = value & 0xff;
  if (where == SSL_CB_READ_ALERT && alert != SSL_AD_CLOSE_NOTIFY) notes_of(session).alert = alert;
}

/// A ticket comes after the peer has looked at our certificate (RFC 8446, 4.6.1).
int note_ticket(SSL* session, SSL_SESSION*) {
  notes_of(session).welcomed = true;
  return 0;
}

Context context_for(const Credentials& credentials) {
  Context context(SSL_CTX_new(TLS_client_method()));
  const Certificate ours = certificate_from(credentials.certificate);
  const Certificate authority = certificate_from(credentials.authority);
  const Key key = key_from(credentials.key);
  check(context && ours && authority && key);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, note_verdict);
  SSL_CTX_set_info_callback(context.get(), note_alert);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context.get(), note_ticket);
  check(SSL_CTX_use_certificate(context.get(), ours.get()) == 1 &&
        SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1 &&
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) == 1);
  return context;
}

Session session_on(SSL_CTX* context, const Socket& socket, const std::string& host,
                   Handshake& notes, Clock& clock) {
  const std::string offer = static_cast<char>(kProtocol.size()) + std::string(kProtocol);
  Session session(SSL_new(context));
  check(session && SSL_set_fd(session.get(), socket.get()) == 1 &&
        SSL_set_alpn_protos(session.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                            static_cast<unsigned>(offer.size())) == 0);
  SSL_set_app_data(session.get(), &notes);
  X509_VERIFY_PARAM_set_time(SSL_get0_param(session.get()), clock.unix_seconds());
  const bool digits = host.find(':') != std::string::npos ||
                      host.find_first_not_of("0123456789.") == std::string::npos;
  if (!digits) SSL_set_tlsext_host_name(session.get(), host.c_str());
  return session;
}

/// What OpenSSL stumbled over, in words; also whether it was TLS at all.
void note_trouble(Handshake& notes, int kind) {
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  notes.is_tls = reason != SSL_R_WRONG_VERSION_NUMBER && reason != SSL_R_HTTP_REQUEST &&
                 reason != SSL_R_PACKET_LENGTH_TOO_LONG;
  const char* words = reason ? ERR_reason_error_string(error) : nullptr;
  const bool closed = kind == SSL_ERROR_ZERO_RETURN || kind == SSL_ERROR_SYSCALL ||
                      reason == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  notes.trouble = closed ? "closed the connection" : words ? words : "failed";
}

/// Repeats a step that waits for the network until it is done or `enough`.
template <class Step, class Enough>
bool repeat(SSL* session, Handshake& notes, int deadline_ms, Step step, Enough enough) {
  const Deadline deadline(deadline_ms);
  for (;;) {
    ERR_clear_error();
    const int result = step();
    if (result > 0 || enough()) return true;
    const int kind = SSL_get_error(session, result);
    const bool reads = kind == SSL_ERROR_WANT_READ;
    if (!reads && kind != SSL_ERROR_WANT_WRITE) return note_trouble(notes, kind), false;
    if (wait_for(SSL_get_fd(session), reads ? POLLIN : POLLOUT, deadline)) continue;
    notes.trouble = "said nothing in time";
    return false;
  }
}

}  // namespace

Handshake shake_hands(const Socket& socket, const std::string& host, const Credentials& credentials,
                      int deadline_ms, Clock& clock) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without asking for errors instead of signals.
  Handshake notes{.revoked = credentials.revoked};
  const Context context = context_for(credentials);
  const Session owned = session_on(context.get(), socket, host, notes, clock);
  SSL* session = owned.get();
  notes.finished = repeat(
      session, notes, deadline_ms, [&] { return SSL_connect(session); }, [] { return false; });
  if (!notes.finished) return ERR_clear_error(), std::move(notes);
  notes.version = SSL_get_version(session);
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session, &chosen, &size);
  notes.speaks_ours = std::string_view(reinterpret_cast<const char*>(chosen), size) == kProtocol;
  // Up to TLS 1.2 the handshake ends after our certificate was accepted; from 1.3 on the verdict
  // comes later, before the learner's first words.
  char byte = 0;
  if (SSL_version(session) <= TLS1_2_VERSION) notes.welcomed = true;
  notes.welcomed = repeat(
      session, notes, deadline_ms, [&] { return SSL_read(session, &byte, 1); },
      [&] { return notes.welcomed; });
  ERR_clear_error();
  return notes;
}

}  // namespace parley::net
