// The two ends of TLS without our transport, for tests of what strangers may do: blocking, and free
// to send what must not be sent.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <csignal>
#include <string>
#include <thread>

#include "parley/net/identity/x509.h"
#include "parley/net/transport/frame.h"
#include "parley/net/transport/socket.h"

namespace parley::test {

/// OpenSSL's own sockets, which are used here, raise it. Only for this thread: ours must not.
inline void block_sigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

/// A connection that blocks, and no TLS yet.
inline net::Socket connected_to(const std::string& address) {
  net::Socket socket = *net::connect_to(address, net::Deadline(5000));
  ::fcntl(socket.get(), F_SETFL, 0);
  return socket;
}

/// Until the peer hangs up; false if it still has not after 30 s.
inline bool is_hung_up_on(const net::Socket& socket) {
  const timeval patience{30, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char bytes[4096];
  ssize_t came = 0;
  do came = ::recv(socket.get(), bytes, sizeof bytes, 0);
  while (came > 0);
  return came == 0 || errno == ECONNRESET;
}

class RawTls {
 public:
  struct Options {
    const net::Credentials* credentials = nullptr;  // none: it shows no certificate
    std::string protocol{net::kProtocol};           // empty: it offers none
    int version = TLS1_3_VERSION;
  };

  /// Believes anyone.
  RawTls(const std::string& address, const Options& options)
      : socket_(connected_to(address)), context_(SSL_CTX_new(TLS_client_method())) {
    block_sigpipe();
    SSL_CTX_set_max_proto_version(context_.get(), options.version);
    if (options.credentials != nullptr) show(*options.credentials);
    session_.reset(SSL_new(context_.get()));
    const std::string offer = char(options.protocol.size()) + options.protocol;
    if (!options.protocol.empty())
      SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                          static_cast<unsigned>(offer.size()));
    SSL_set_fd(session_.get(), socket_.get());
    shaken_ = SSL_connect(session_.get()) == 1;
  }
  ~RawTls() { ERR_clear_error(); }

  bool shaken() const { return shaken_; }
  const net::Socket& socket() const { return socket_; }
  bool write(ByteView bytes) {
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  /// Tells the peer that another key follows (RFC 8446, 4.6.3).
  bool renew_key() const {
    return SSL_key_update(session_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
           SSL_do_handshake(session_.get()) == 1;
  }
  /// Nothing, if it is over before.
  Bytes read(size_t size) {
    Bytes bytes(size);
    for (size_t done = 0; done < size;) {
      const int came = SSL_read(session_.get(), bytes.data() + done, int(size - done));
      if (came <= 0) return {};
      done += static_cast<size_t>(came);
    }
    return bytes;
  }
  /// Reads the greeting and opens the call.
  bool open(std::string_view call = "attend") {
    return shaken_ && read(net::kFrameHead).size() == net::kFrameHead &&
           write(net::to_frame(net::FrameKind::kOpen, as_bytes(call)));
  }
  /// Why the stream ended, or nothing if it did without a reason.
  Error last_words() {
    for (;;) {
      const Bytes head = read(net::kFrameHead);
      if (head.empty()) return {Code::kUnavailable, ""};
      const Bytes payload = read(head[1] + (size_t{head[2]} << 8) + (size_t{head[3]} << 16));
      if (head[0] == uint8_t(net::FrameKind::kEnd)) return net::decode_end(payload);
    }
  }

 private:
  void show(const net::Credentials& credentials) {
    SSL_CTX_use_certificate(context_.get(), net::certificate_from(credentials.certificate).get());
    SSL_CTX_use_PrivateKey(context_.get(), net::key_from(credentials.key).get());
  }
  net::Socket socket_;
  std::unique_ptr<SSL_CTX, net::Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, net::Freed<SSL_free>> session_;
  bool shaken_ = false;
};

/// Shakes hands with one caller, says what it was told to say, and waits until it hangs up.
class RawTlsServer {
 public:
  struct Script {
    std::string protocol{net::kProtocol};  // that it chooses; empty: none
    Bytes says{};
    bool again = false;  // without end
    int keys = 0;        // so often it renews its key then
  };

  RawTlsServer(const net::Credentials& credentials, Script script)
      : script_(std::move(script)), listening_(*net::listen_at("127.0.0.1:0")) {
    ::fcntl(listening_.sockets[0].get(), F_SETFL, 0);
    thread_ = std::thread([this, credentials] { serve(credentials); });
  }
  ~RawTlsServer() {
    ::shutdown(listening_.sockets[0].get(), SHUT_RDWR);  // In case that nobody called.
    thread_.join();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listening_.port); }

 private:
  static int choose(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*,
                    unsigned, void* chosen) {
    const auto& protocol = *static_cast<const std::string*>(chosen);
    *out = reinterpret_cast<const unsigned char*>(protocol.data());
    *size = static_cast<unsigned char>(protocol.size());
    return protocol.empty() ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_OK;
  }
  void serve(const net::Credentials& credentials) {
    block_sigpipe();
    const net::Socket caller(::accept(listening_.sockets[0].get(), nullptr, nullptr));
    if (caller.get() < 0) return;
    const std::unique_ptr<SSL_CTX, net::Freed<SSL_CTX_free>> context(
        SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context.get(), net::certificate_from(credentials.certificate).get());
    SSL_CTX_use_PrivateKey(context.get(), net::key_from(credentials.key).get());
    SSL_CTX_set_alpn_select_cb(context.get(), choose, &script_.protocol);
    const std::unique_ptr<SSL, net::Freed<SSL_free>> session(SSL_new(context.get()));
    SSL_set_fd(session.get(), caller.get());
    char byte = 0;
    if (SSL_accept(session.get()) == 1) {
      const auto say = [&] {
        const auto size = static_cast<int>(script_.says.size());
        return size == 0 || SSL_write(session.get(), script_.says.data(), size) > 0;
      };
      while (say() && script_.again) {
      }
      for (int i = 0; i < script_.keys; ++i)
        if (SSL_key_update(session.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
            SSL_do_handshake(session.get()) != 1)
          break;
      while (SSL_read(session.get(), &byte, 1) == 1) {
      }
    }
    ERR_clear_error();
  }

  Script script_;
  net::Listening listening_;
  std::thread thread_;
};

}  // namespace parley::test
