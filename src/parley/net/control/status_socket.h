// The status of a daemon for people on its machine: a socket in its folder that only its user may
// open. Whoever connects is sent one text, and the connection closes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "parley/base/result.h"
#include "parley/net/transport/socket.h"

namespace parley::net {

inline constexpr const char* kStatusSocket = "status.sock";

class StatusSocket {
 public:
  /// Takes the place of a socket that an earlier process left. `status` is asked by a thread of its
  /// own.
  static Result<std::unique_ptr<StatusSocket>> open(const std::filesystem::path& file,
                                                    std::function<std::string()> status);
  ~StatusSocket();

 private:
  StatusSocket(std::filesystem::path file, Socket socket, std::function<std::string()> status);
  void serve(const std::stop_token& over);

  std::filesystem::path file_;
  Socket socket_;
  std::function<std::string()> status_;
  std::jthread thread_;  // Last: it uses all of the above.
};

/// What the daemon says; kUnavailable if there is none.
Result<std::string> ask_status(const std::filesystem::path& file);

}  // namespace parley::net
