#include "parley/data/sources/child.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace parley::data {
namespace {

constexpr int kLookMilliseconds = 200;
constexpr size_t kLineMax = size_t{64} << 20;

std::atomic<bool> is_ours = false;

Result<int> spawn(const Child::Settings& settings, int socket) {
  std::vector<char*> words;
  for (const std::string& word : settings.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, 1);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Error{Code::kUnavailable,
                 "cannot start " + settings.command[0] + ": " + std::strerror(failed),
                 "Check the path.",
                 {.key = settings.key}};
  return static_cast<int>(child);
}

std::string manner(int status) {
  if (WIFSIGNALED(status)) return ", by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : ", with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<Child>> Child::start(Settings settings) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Code::kFailed, "no socket for " + settings.who};
  const auto process = spawn(settings, ends[1]);
  close(ends[1]);
  if (!process) return close(ends[0]), process.error();
  return std::unique_ptr<Child>(new Child(std::move(settings), ends[0], *process));
}

Child::~Child() {
  close(socket_);
  if (reaped_) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

Error Child::broken(const std::string& what) const {
  return {Code::kFailed, settings_.who + " " + what,
          "Its own messages are above. Nothing was spent on this question; start again to go on."};
}

/// It has closed its end; how it ended is known a moment later.
Error Child::ended() {
  int status = 0;
  for (int i = 0; i < 100 && !reaped_; ++i) {
    reaped_ = waitpid(process_, &status, WNOHANG) == process_;
    if (!reaped_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return broken("has ended" + (reaped_ ? manner(status) : ""));
}

/// No later question finds an answer to this one.
void Child::end() {
  shutdown(socket_, SHUT_RDWR);
  kill(process_, SIGKILL);
}

Error Child::silent() {
  end();
  return {Code::kFailed,
          settings_.who + " has said nothing for " + std::to_string(settings_.patience.count()) +
              " s, and was ended",
          "Nothing was spent on this question. If it only needs longer, raise database_s.",
          {.key = "limits.database_s"}};
}

/// Until it listens or speaks, or is ended.
Result<void> Child::wait(short events) {
  using Clock = std::chrono::steady_clock;
  for (const auto until = Clock::now() + settings_.patience; Clock::now() < until;) {
    if (settings_.stop.asked()) return end(), interrupted();
    pollfd waiting{socket_, events, 0};
    if (poll(&waiting, 1, kLookMilliseconds) > 0) return {};
  }
  return silent();
}

Result<void> Child::say(std::string_view text) {
  const std::string all = std::string(text) + "\n";
  for (size_t sent = 0; sent < all.size();) {
    TRY(wait(POLLOUT));
    const ssize_t now =
        send(socket_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (now < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (now <= 0) return ended();
    sent += static_cast<size_t>(now);
  }
  return {};
}

Result<size_t> Child::receive(std::span<char> room) {
  for (;;) {
    TRY(wait(POLLIN));
    const ssize_t now = recv(socket_, room.data(), room.size(), 0);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return ended();
    return static_cast<size_t>(now);
  }
}

Result<std::string> Child::hear_line() {
  size_t end, seen = 0;
  while ((end = received_.find('\n', seen)) == std::string::npos) {
    seen = received_.size();
    char part[65536];
    received_.append(part, TRY(receive(part)));
    if (received_.size() > kLineMax) return broken("talks without end");
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

Result<void> Child::hear(std::span<char> bytes) {
  const size_t there = std::min(bytes.size(), received_.size());
  std::copy_n(received_.data(), there, bytes.data());
  received_.erase(0, there);
  for (size_t got = there; got < bytes.size();) got += TRY(receive(bytes.subspan(got)));
  return {};
}

std::string our_program() { return is_ours ? "/proc/self/exe" : "parley"; }
void this_program_is_ours() { is_ours = true; }

}  // namespace parley::data
