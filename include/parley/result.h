// Result<T>: a value, or the reason there is none. Every function of the library that can fail
// returns one; none throws for an expected failure.
//
//   parley::Result<parley::Model> model = parley::Model::read("model.json");
//   if (!model) {
//     std::cerr << parley::describe(model.error()) << "\n" << model.error().hint << "\n";
//     return parley::exit_status(model.error().code);
//   }
//   std::cout << model->name() << "\n";
//
// A subset of C++23 std::expected. A Result has no threads of its own: const members may be called
// from several threads at once.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace parley {

/// Ends the process when a program is wrong, such as one that asks a failed Result for its value.
/// Stays on in release builds: a privacy bug must become an outage, never a leak. Prints no values.
inline void check(bool ok, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (ok) return;
  std::fprintf(stderr, "%s:%d: check failed\n", file, line);
  std::abort();
}

/// What kind of failure it is; the text of an Error says which.
enum class Code {
  kInvalid,          // input or configuration is wrong
  kBudgetExhausted,  // the privacy budget does not allow it
  kPolicy,           // the owner's policy does not allow it
  kUnavailable,      // a peer cannot be reached
  kIntegrity,        // a hash, signature, order or ledger is not what it must be
  kFailed,           // the machine failed us: disk, memory, a lock held by another process
};

/// The name of a code in JSON and on the wire.
constexpr std::string_view name_of(Code code) {
  constexpr std::string_view kNames[] = {"invalid",     "budget_exhausted", "policy",
                                         "unavailable", "integrity",        "failed"};
  return kNames[static_cast<int>(code)];
}

/// What the command line program exits with: 1 failed, 2 bad usage or configuration, 3 refused by
/// policy or budget, 4 peer unreachable, 5 integrity.
constexpr int exit_status(Code code) {
  constexpr int kStatus[] = {2, 3, 3, 4, 5, 1};
  return kStatus[static_cast<int>(code)];
}

/// A place in a file. Lines and columns count from 1; 0 means unknown.
struct Where {
  std::string file{};
  int line = 0;
  int column = 0;
  std::string key{};
};

/// Why an operation failed. The text may be logged and shown to peers: it states public facts only,
/// never what a private record contains.
struct Error {
  Code code;
  std::string what;
  std::string hint{};  // what the reader should do
  Where where{};
};

/// `file:line:column: key: what`, with the parts that are known.
std::string describe(const Error& error);

/// A T, or an Error. `*result` and `result->` give the value; asking for what is not there ends the
/// process.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return check(bool(*this)), *std::get_if<0>(&state_); }
  T& operator*() & { return check(bool(*this)), *std::get_if<0>(&state_); }
  T&& operator*() && { return check(bool(*this)), std::move(*std::get_if<0>(&state_)); }
  const T* operator->() const { return &**this; }
  T* operator->() { return &**this; }
  const Error& error() const { return check(!*this), *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Of an operation that gives nothing but its success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return error_.index() == 0; }
  void operator*() const { check(bool(*this)); }
  const Error& error() const { return check(!*this), *std::get_if<1>(&error_); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace parley

/// Unwraps a Result, or returns its error from the enclosing function, which returns a Result, too:
///
///   const parley::Model model = PARLEY_TRY(parley::Model::read(file));
///
/// For GCC and Clang. Not between braces after an object that needs a destructor: g++ does not
/// destroy what stands there already.
#define PARLEY_TRY(expression)            \
  __extension__({                         \
    auto result_ = (expression);          \
    if (!result_) return result_.error(); \
    *std::move(result_);                  \
  })
