#include "parley/net/transport/transport.h"

#include <absl/synchronization/mutex.h>
#include <grpc/support/log.h>
#include <grpcpp/support/slice.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parley/net/transport/refusals.h"

namespace parley::net {
namespace {

constexpr std::pair<Code, grpc::StatusCode> kCodes[] = {
    {Code::kInvalid, grpc::INVALID_ARGUMENT},      {Code::kBudgetExhausted, grpc::OUT_OF_RANGE},
    {Code::kPolicy, grpc::PERMISSION_DENIED},      {Code::kUnavailable, grpc::UNAVAILABLE},
    {Code::kIntegrity, grpc::FAILED_PRECONDITION}, {Code::kFailed, grpc::INTERNAL},
};

std::mutex log_mutex;
std::unique_ptr<Refusals> refused_handshakes;

/// gRPC tells of a certificate only that it was refused. Why, OpenSSL tells the peer in an alert,
/// in the same thread just before.
thread_local int last_alert = -1;

void note_alert(int is_ours, int, int type, const void* bytes, size_t size, SSL*, void*) {
  if (is_ours && type == SSL3_RT_ALERT && size == 2)
    last_alert = static_cast<const uint8_t*>(bytes)[1];
}

void watch_session(void* session, void*, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_set_msg_callback(static_cast<SSL*>(session), note_alert);
}

std::string verdict_on_certificate(int alert) {
  if (alert == SSL_AD_CERTIFICATE_EXPIRED) return "its certificate has expired";
  if (alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_DECRYPT_ERROR)
    return "its certificate is not from this consortium's authority";
  const char* words = alert < 0 ? "for no reason known" : SSL_alert_desc_string_long(alert);
  return std::string("its certificate was not accepted: ") + words;
}

/// What gRPC says of a failed handshake, in words for whoever reads the log.
std::string handshake_trouble(const std::string& text, int alert) {
  const auto has = [&](const char* words) { return text.find(words) != text.npos; };
  if (has("peer did not return a certificate")) return "it showed no certificate";
  if (has("certificate verify failed")) return verdict_on_certificate(alert);
  for (const char* not_tls : {"http request", "wrong version number", "packet length too long",
                              "unexpected message", "bad record type", "record layer failure"})
    if (has(not_tls)) return std::string("it does not speak TLS (") + not_tls + ")";
  return text;
}

void on_grpc_message(gpr_log_func_args* args) {
  const std::string text = args->message;
  if (args->severity != GPR_LOG_SEVERITY_ERROR || text.find("andshake") == text.npos) return;
  const std::string reason = handshake_trouble(text, std::exchange(last_alert, -1));
  const std::lock_guard lock(log_mutex);
  if (refused_handshakes) refused_handshakes->add("a stranger before any call", reason);
}

}  // namespace

grpc::ByteBuffer to_buffer(const Bytes& bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

Bytes to_bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  Bytes bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) bytes.insert(bytes.end(), slice.begin(), slice.end());
  return bytes;
}

grpc::Status to_status(const Error& error) {
  const auto* code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                  [&](const auto& each) { return each.first == error.code; });
  return {code->second, error.what, error.hint};
}

Error to_error(const grpc::Status& status) {
  const auto* code = std::find_if(std::begin(kCodes), std::end(kCodes), [&](const auto& each) {
    return each.second == status.error_code();
  });
  return {.code = code == std::end(kCodes) ? Code::kUnavailable : code->first,
          .what = status.error_message(),
          .hint = status.error_details()};
}

void log_refused_handshakes(Log log) {
  static const int watching = SSL_get_ex_new_index(0, nullptr, watch_session, nullptr, nullptr);
  check(watching >= 0);
  const std::lock_guard lock(log_mutex);
  refused_handshakes = log ? std::make_unique<Refusals>(std::move(log)) : nullptr;
  gpr_set_log_function(on_grpc_message);
  // Debian's Abseil looks for deadlocks at every lock of gRPC.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

void tell_refused_handshakes() {
  const std::lock_guard lock(log_mutex);
  if (refused_handshakes) refused_handshakes->tell();
}

}  // namespace parley::net
