#include "parley/data/sources/libpq.h"

#include <dlfcn.h>

namespace parley::data {
namespace {

constexpr char kFile[] = "libpq.so.5";

template <class Function>
bool look_up(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  return into != nullptr;
}

/// With nothing in it if there is no such library, or one without these functions.
Libpq opened() {
  Libpq found;
  void* library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!library) return {};
#define PARLEY_FIND(name) \
  if (!look_up(library, "PQ" #name, found.name)) return {};
  PARLEY_LIBPQ(PARLEY_FIND)
#undef PARLEY_FIND
  return found;
}

const Libpq& once() {
  static const Libpq found = opened();
  return found;
}

}  // namespace

Result<void> open_libpq() {
  if (once().connectdb) return {};
  return Error{Code::kFailed,
               "data in PostgreSQL needs PostgreSQL's client library, libpq.so.5",
               "On Debian and Ubuntu: apt install libpq5. On Red Hat's systems: dnf install libpq.",
               {.key = "source"}};
}

const Libpq& libpq() {
  check(once().connectdb != nullptr);
  return once();
}

Result<PqConnection> connect_to_postgresql(const std::string& dsn) {
  TRY(open_libpq());
  PqConnection connection(libpq().connectdb(dsn.c_str()));
  if (libpq().status(connection.get()) != CONNECTION_OK) {
    const std::string said = libpq().errorMessage(connection.get());
    return Error{Code::kUnavailable,
                 "cannot connect: " + said.substr(0, said.find('\n')),
                 "Check the dsn with psql; a password belongs into ~/.pgpass.",
                 {.key = "dsn"}};
  }
  libpq().setNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
  return connection;
}

}  // namespace parley::data
