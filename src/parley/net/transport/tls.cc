#include "parley/net/transport/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "parley/base/printable.h"
#include "parley/net/identity/x509.h"
#include "parley/net/transport/frame.h"

namespace parley::net {
namespace {

constexpr long kCertificateBytesMax = 16 << 10;  // Ours have one kilobyte.
/// In one call: OpenSSL goes on for as long as something comes that is not for its caller.
constexpr size_t kBytesAtOnce = 64 << 10;
constexpr size_t kRenewalsMax = 8;  // of keys, and whatever else TLS itself says; we say nothing.

/// The protocol as ALPN writes it: its length, then itself.
std::string offered_protocol() {
  return static_cast<char>(kProtocol.size()) + std::string(kProtocol);
}

/// What ALPN offers, in words for a log: names of any bytes.
std::string names_in(const unsigned char* list, unsigned size) {
  std::string text;
  for (unsigned at = 0; at < size && text.size() < 200; at += 1u + list[at])
    text += (text.empty() ? "" : ", ") + in_quotes({reinterpret_cast<const char*>(list) + at + 1,
                                                    std::min<size_t>(list[at], size - at - 1)});
  return text;
}

}  // namespace

struct TlsSession::State {
  State(const TlsContext& context, int descriptor) : context(context), descriptor(descriptor) {}
  const TlsContext& context;
  int descriptor;
  size_t received = 0, received_before = 0;  // this call
  bool shaken = false;
  size_t renewals = 0;  // since then
  std::optional<Identity> peer{};
  std::string peer_serial{};
  std::string no_party{};  // what is wrong with the name in its certificate
  std::string offered{};   // instead of our protocol
  std::optional<int> alert{};
  int failed_reason = 0;
  std::string failed_words{};
  bool has_certificate = false;
  std::unique_ptr<SSL, Freed<SSL_free>> session{};
};

namespace {

using SessionState = TlsSession::State;

SessionState& state_of(const SSL* session) {
  return *static_cast<SessionState*>(SSL_get_app_data(session));
}

// OpenSSL's own sockets raise SIGPIPE, which is not ours to ignore for a whole process.

int send_bytes(BIO* bio, const char* bytes, int size) {
  const auto& state = *static_cast<SessionState*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(state.descriptor, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int receive_bytes(BIO* bio, char* bytes, int size) {
  auto& state = *static_cast<SessionState*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const bool enough = state.received - state.received_before >= kBytesAtOnce;
  if (enough || state.renewals > kRenewalsMax) return BIO_set_retry_read(bio), -1;
  const ssize_t came = ::recv(state.descriptor, bytes, static_cast<size_t>(size), 0);
  if (came < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (came > 0) state.received += static_cast<size_t>(came);
  return static_cast<int>(came);
}

long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* quiet_socket() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quiet socket");
    check(made != nullptr);
    BIO_meth_set_write(made, send_bytes);
    BIO_meth_set_read(made, receive_bytes);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return method;
}

int choose_protocol(SSL* session, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static const std::string ours = offered_protocol();
  unsigned char* chosen = nullptr;
  const auto* list = reinterpret_cast<const unsigned char*>(ours.data());
  const int found = SSL_select_next_proto(&chosen, size, list, static_cast<unsigned>(ours.size()),
                                          offered, offered_size);
  *out = chosen;
  if (found == OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_OK;
  state_of(session).offered = names_in(offered, offered_size);
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

void note_peers_alert(const SSL* session, int where, int value) {
  const int alert = value & 0xff;
  if (where == SSL_CB_READ_ALERT && alert != SSL_AD_CLOSE_NOTIFY) state_of(session).alert = alert;
}

/// After the handshake TLS itself has nothing to say; a peer may renew its key (RFC 8446, 4.6.3).
void count_renewals(int we_say, int, int type, const void*, size_t, SSL* session, void*) {
  SessionState& state = state_of(session);
  if (we_say == 0 && type == SSL3_RT_HANDSHAKE && state.shaken) ++state.renewals;
}

/// After OpenSSL's own judgement of the chain: whose certificate it is, and whether it was taken
/// back.
int look_at_name(int good, X509_STORE_CTX* store) {
  const auto* session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  SessionState& state = state_of(session);
  state.has_certificate = true;
  if (good != 1 || X509_STORE_CTX_get_error_depth(store) != 0) return good;
  auto identity = identity_of(X509_STORE_CTX_get0_cert(store));
  if (identity)
    state.peer = *std::move(identity);
  else
    state.no_party = identity.error().what;
  state.peer_serial = serial_of(X509_STORE_CTX_get0_cert(store));
  if (state.context.revoked().has(state.peer_serial)) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
    return 0;
  }
  if (state.peer && state.context.expects(*state.peer)) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

/// What is wrong with a peer's certificate, by OpenSSL's verdict on it.
std::string about_certificate(const SessionState& state, long verdict) {
  switch (verdict) {
    case X509_V_ERR_APPLICATION_VERIFICATION:
      return state.peer ? "nobody of that name is expected here"
                        : "its certificate " + state.no_party;
    case X509_V_ERR_CERT_REVOKED:
      return "its certificate was revoked";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "its certificate is not from this consortium's authority";
    default:
      return std::string("its certificate was not accepted: ") +
             X509_verify_cert_error_string(verdict);
  }
}

std::string about_offer(const SessionState& state) {
  return "it offers " + state.offered + " instead of \"" + std::string(kProtocol) + "\"" +
         (state.offered.find("\"h2\"") == state.offered.npos ? "" : ", as Parley 0.1 does");
}

bool is_no_tls(int reason) {
  constexpr int kNoTls[] = {SSL_R_HTTP_REQUEST,
                            SSL_R_HTTPS_PROXY_REQUEST,
                            SSL_R_WRONG_VERSION_NUMBER,
                            SSL_R_PACKET_LENGTH_TOO_LONG,
                            SSL_R_UNEXPECTED_MESSAGE,
                            SSL_R_BAD_RECORD_TYPE,
                            SSL_R_BAD_PROTOCOL_VERSION_NUMBER,
                            SSL_R_UNEXPECTED_RECORD,
                            SSL_R_LENGTH_MISMATCH,
                            SSL_R_ENCRYPTED_LENGTH_TOO_LONG,
                            SSL_R_UNKNOWN_PROTOCOL};
  return std::find(std::begin(kNoTls), std::end(kNoTls), reason) != std::end(kNoTls);
}

/// Keeps the first reason that OpenSSL has for a failure.
void note_failure(SessionState& state) {
  const unsigned long error = ERR_peek_error();
  const bool ours = error != 0 && ERR_GET_LIB(error) == ERR_LIB_SSL;
  const char* words = error == 0 ? nullptr : ERR_reason_error_string(error);
  state.failed_reason = ours ? ERR_GET_REASON(error) : 0;
  if (words != nullptr && state.failed_reason != SSL_R_UNEXPECTED_EOF_WHILE_READING)
    state.failed_words = words;
  ERR_clear_error();
}

TlsSession::Step step_of(SessionState& state, int result) {
  using Step = TlsSession::Step;
  if (state.renewals > kRenewalsMax) {
    state.failed_words = "it renews its keys without end";
    ERR_clear_error();
    return Step::kOver;
  }
  if (result > 0) return Step::kDone;
  switch (SSL_get_error(state.session.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::kWantsRead;
    case SSL_ERROR_WANT_WRITE:
      return Step::kWantsWrite;
    default:
      note_failure(state);
      return Step::kOver;
  }
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext::TlsContext(const Credentials& credentials, bool serves, std::vector<Identity> expected)
    : serves_(serves),
      self_(credentials.identity),
      expected_(std::move(expected)),
      revoked_(credentials.revoked),
      context_(SSL_CTX_new(serves ? TLS_server_method() : TLS_client_method())) {
  SSL_CTX* context = context_.get();
  const Certificate ours = certificate_from(credentials.certificate);
  const Certificate authority = certificate_from(credentials.authority);
  const Key key = key_from(credentials.key);
  check(context != nullptr && ours && authority && key);
  check(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
        SSL_CTX_use_certificate(context, ours.get()) == 1 &&
        SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) == 1);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, look_at_name);
  SSL_CTX_set_verify_depth(context, 1);  // The authority signs by itself.
  SSL_CTX_set_max_cert_list(context, kCertificateBytesMax);
  SSL_CTX_set_info_callback(context, note_peers_alert);
  SSL_CTX_set_msg_callback(context, count_renewals);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(context, 1);  // One call of the system for a record, not two.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  const std::string offer = offered_protocol();
  if (serves)
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  else
    check(SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(offer.data()),
                                  static_cast<unsigned>(offer.size())) == 0);
}

TlsContext TlsContext::for_server(const Credentials& credentials, std::vector<Identity> expected) {
  return {credentials, true, std::move(expected)};
}

TlsContext TlsContext::for_client(const Credentials& credentials, const Identity& learner) {
  return {credentials, false, {learner}};
}

bool TlsContext::expects(const Identity& identity) const {
  if (expected_.empty()) return identity.consortium == self_.consortium && identity.role == "owner";
  return std::find(expected_.begin(), expected_.end(), identity) != expected_.end();
}

TlsSession::TlsSession(const TlsContext& context, int descriptor, const std::string& host)
    : state_(std::make_unique<State>(context, descriptor)) {
  state_->session.reset(SSL_new(context.get()));
  SSL* session = state_->session.get();
  BIO* bio = BIO_new(quiet_socket());
  check(session != nullptr && bio != nullptr);
  BIO_set_data(bio, state_.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  SSL_set_app_data(session, state_.get());
  if (context.serves())
    SSL_set_accept_state(session);
  else
    SSL_set_connect_state(session);
  const bool digits = host.find(':') != std::string::npos ||
                      host.find_first_not_of("0123456789.") == std::string::npos;
  if (!digits) SSL_set_tlsext_host_name(session, host.c_str());
}

TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

void TlsSession::begin_call() {
  ERR_clear_error();
  state_->received_before = state_->received;
}

TlsSession::Step TlsSession::shake_hands() {
  begin_call();
  const Step step = step_of(*state_, SSL_do_handshake(state_->session.get()));
  state_->shaken = step == Step::kDone;
  return step;
}

TlsSession::Step TlsSession::read(std::span<uint8_t> room, size_t& count) {
  begin_call();
  count = 0;
  return step_of(*state_, SSL_read_ex(state_->session.get(), room.data(), room.size(), &count));
}

TlsSession::Step TlsSession::write(ByteView bytes, size_t& count) {
  begin_call();
  count = 0;
  return step_of(*state_, SSL_write_ex(state_->session.get(), bytes.data(), bytes.size(), &count));
}

bool TlsSession::sends_without_end() const { return state_->renewals > kRenewalsMax; }

bool TlsSession::has_pending() const { return SSL_has_pending(state_->session.get()) == 1; }

void TlsSession::say_goodbye() {
  ERR_clear_error();
  SSL_shutdown(state_->session.get());
  ERR_clear_error();
}

const std::optional<Identity>& TlsSession::peer() const { return state_->peer; }
const std::string& TlsSession::peer_serial() const { return state_->peer_serial; }
size_t TlsSession::received() const { return state_->received; }
std::optional<int> TlsSession::alert() const { return state_->alert; }

bool TlsSession::speaks_ours() const {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(state_->session.get(), &chosen, &size);
  return std::string_view(reinterpret_cast<const char*>(chosen), size) == kProtocol;
}

bool TlsSession::is_peer_unverified() const {
  return state_->failed_reason == SSL_R_CERTIFICATE_VERIFY_FAILED;
}

std::string TlsSession::trouble() const {
  const int reason = state_->failed_reason;
  if (state_->alert)
    return std::string("it ended TLS with the alert \"") +
           SSL_alert_desc_string_long(*state_->alert) + "\"";
  if (is_peer_unverified())
    return about_certificate(*state_, SSL_get_verify_result(state_->session.get()));
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return "it showed no certificate";
  if (reason == SSL_R_NO_APPLICATION_PROTOCOL) return about_offer(*state_);
  if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_VERSION_TOO_LOW)
    return "it does not speak TLS 1.3";
  if (is_no_tls(reason)) return "it does not speak TLS (" + state_->failed_words + ")";
  return state_->failed_words;
}

bool TlsSession::is_peer_revoked() const {
  return is_peer_unverified() &&
         SSL_get_verify_result(state_->session.get()) == X509_V_ERR_CERT_REVOKED;
}

bool is_about_our_certificate(int alert) {
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
         alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_ACCESS_DENIED ||
         alert == SSL_AD_DECRYPT_ERROR || alert == SSL_AD_CERTIFICATE_REQUIRED ||
         is_not_on_the_list(alert);
}

std::string about_our_certificate(int alert) {
  switch (alert) {
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "it has expired by the peer's clock";
    case SSL_AD_CERTIFICATE_REVOKED:
      return "the authority has revoked it";
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_DECRYPT_ERROR:
      return "it is not from the peer's authority";
    default:
      return std::string("the alert is \"") + SSL_alert_desc_string_long(alert) + "\"";
  }
}

bool is_not_on_the_list(int alert) { return alert == SSL_AD_HANDSHAKE_FAILURE; }
bool is_about_version(int alert) {
  return alert == SSL_AD_NO_APPLICATION_PROTOCOL || alert == SSL_AD_PROTOCOL_VERSION;
}

}  // namespace parley::net
