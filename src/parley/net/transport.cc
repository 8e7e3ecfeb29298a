#include "parley/net/transport.h"

#include <grpc/support/log.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::net {
namespace {

constexpr std::pair<Code, grpc::StatusCode> kCodes[] = {
    {Code::kInvalid, grpc::INVALID_ARGUMENT},      {Code::kBudgetExhausted, grpc::OUT_OF_RANGE},
    {Code::kPolicy, grpc::PERMISSION_DENIED},      {Code::kUnavailable, grpc::UNAVAILABLE},
    {Code::kIntegrity, grpc::FAILED_PRECONDITION}, {Code::kFailed, grpc::INTERNAL},
};

std::mutex log_mutex;
Log handshake_log;

void on_grpc_message(gpr_log_func_args* args) {
  const std::string_view text = args->message;
  if (args->severity != GPR_LOG_SEVERITY_ERROR || text.find("andshake") == text.npos) return;
  const std::lock_guard lock(log_mutex);
  if (handshake_log) handshake_log("refused a stranger before any call: " + std::string(text));
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
  const std::lock_guard lock(log_mutex);
  handshake_log = std::move(log);
  gpr_set_log_function(on_grpc_message);
}

}  // namespace parley::net
