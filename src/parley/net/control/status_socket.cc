#include "parley/net/control/status_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace parley::net {
namespace {

constexpr int kStatusTick = 200;  // milliseconds
constexpr std::chrono::seconds kAskTime{10};
constexpr size_t kStatusBytesMax = 16 << 20;

Error at(const std::filesystem::path& file, Code code, std::string what, std::string hint) {
  return {code, std::move(what), std::move(hint), {.file = file.string()}};
}

Result<sockaddr_un> address_of(const std::filesystem::path& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = file.string();
  if (text.size() >= sizeof address.sun_path)
    return at(file, Code::kInvalid,
              "has " + std::to_string(text.size()) + " characters, and a socket's path at most " +
                  std::to_string(sizeof address.sun_path - 1),
              "Name the folder of state by a shorter path.");
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// As much of it as the reader takes within a second: whoever reads slowly must not stop us.
void send_all(const Socket& reader, std::string_view text) {
  const Deadline deadline(1000);
  while (!text.empty() && wait_for(reader.get(), POLLOUT, deadline)) {
    const ssize_t sent = ::send(reader.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    if (sent > 0) text.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

Result<std::unique_ptr<StatusSocket>> StatusSocket::open(const std::filesystem::path& file,
                                                         std::function<std::string()> status) {
  const sockaddr_un address = TRY(address_of(file));
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  struct stat found{};
  if (::lstat(file.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) ::unlink(file.c_str());
  // From the beginning nobody else can open it: who made the file first cannot change that.
  const mode_t before = ::umask(0177);
  const bool bound = ::bind(socket.get(), plain(address), sizeof address) == 0;
  const int why = errno;
  ::umask(before);
  if (!bound || ::listen(socket.get(), 8) != 0)
    return at(file, Code::kFailed, std::string("cannot be made: ") + std::strerror(why),
              "The folder must be the daemon's own, and on this machine.");
  return std::unique_ptr<StatusSocket>(
      new StatusSocket(file, std::move(socket), std::move(status)));
}

StatusSocket::StatusSocket(std::filesystem::path file, Socket socket,
                           std::function<std::string()> status)
    : file_(std::move(file)),
      socket_(std::move(socket)),
      status_(std::move(status)),
      thread_([this](const std::stop_token& over) { serve(over); }) {}

StatusSocket::~StatusSocket() {
  thread_.request_stop();
  thread_.join();
  ::unlink(file_.c_str());
}

void StatusSocket::serve(const std::stop_token& over) {
  while (!over.stop_requested()) {
    if (!wait_for(socket_.get(), POLLIN, Deadline(kStatusTick))) continue;
    const Socket reader(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (reader.get() >= 0) send_all(reader, status_());
  }
}

Result<std::string> ask_status(const std::filesystem::path& file) {
  const sockaddr_un address = TRY(address_of(file));
  const Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), plain(address), sizeof address) != 0)
    return errno == EACCES || errno == EPERM
               ? at(file, Code::kUnavailable, "may not be opened by you",
                    "Type it as the daemon's user: sudo -u USER parley ...")
               : at(file, Code::kUnavailable, "no daemon answers there",
                    "Is it running? `systemctl status`, or start it with `run`.");
  std::string text;
  char some[4096];
  const Deadline deadline(std::chrono::duration_cast<std::chrono::milliseconds>(kAskTime));
  while (text.size() < kStatusBytesMax && wait_for(socket.get(), POLLIN, deadline)) {
    const ssize_t came = ::recv(socket.get(), some, sizeof some, 0);
    if (came == 0) return text;
    if (came > 0) text.append(some, static_cast<size_t>(came));
    if (came < 0 && errno != EINTR) break;
  }
  return at(file, Code::kUnavailable, "the daemon does not answer", "It may be stopped.");
}

}  // namespace parley::net
