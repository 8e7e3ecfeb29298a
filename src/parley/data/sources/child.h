// A child process of the owner, with a socket as its input and output. What it loads may crash or
// hang without harm to the owner's process.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/base/stop.h"

namespace parley::data {

class Child {
 public:
  struct Settings {
    std::vector<std::string> command;  // the program and its arguments
    std::string who;                   // for messages: "the engine of the data set"
    std::string key;                   // of the policy, that names the program
    /// A child that sends nothing for so long is killed.
    std::chrono::seconds patience{3600};
    /// So is one that is waited for when this is asked.
    Stop stop{};
  };

  /// The child inherits standard error and the environment of this process.
  static Result<std::unique_ptr<Child>> start(Settings settings);
  ~Child();  // Ends it.
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends `text` and the end of a line.
  Result<void> say(std::string_view text);
  /// Reads up to the end of a line, at most 64 MB.
  Result<std::string> hear_line();
  /// Reads exactly so many bytes.
  Result<void> hear(std::span<char> bytes);

  /// It has ended, or does not keep to what was agreed.
  Error broken(const std::string& what) const;

 private:
  Child(Settings settings, int socket, int process)
      : settings_(std::move(settings)), socket_(socket), process_(process) {}
  Result<size_t> receive(std::span<char> room);
  Result<void> wait(short events);
  void end();
  Error ended();
  Error silent();

  Settings settings_;
  int socket_, process_;
  bool reaped_ = false;
  std::string received_{};
};

/// What starts our own command line program: the one that runs, after it has said that it is; else
/// the `parley` in PATH.
std::string our_program();
void this_program_is_ours();

}  // namespace parley::data
