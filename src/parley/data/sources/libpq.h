// libpq, loaded when a policy first asks for PostgreSQL. It needs Kerberos and LDAP libraries,
// which an owner with files does not have to install, and it cannot be linked statically as a
// whole.
#pragma once

#include <libpq-fe.h>

#include <memory>

#include "parley/base/result.h"

// clang-format off
#define PARLEY_LIBPQ(X)                                                                     \
  X(clear) X(connectdb) X(describePrepared) X(errorMessage) X(exec) X(execParams) X(finish) \
  X(fname) X(freemem) X(ftype) X(getCopyData) X(getResult) X(getvalue) X(nfields)           \
  X(prepare) X(resultErrorField) X(resultStatus) X(setNoticeProcessor) X(status)
// clang-format on

namespace parley::data {

/// PQexec is exec, and so on.
struct Libpq {
#define PARLEY_MEMBER(name) decltype(&PQ##name) name{};
  PARLEY_LIBPQ(PARLEY_MEMBER)
#undef PARLEY_MEMBER
};

/// Opened once for the process, and never closed. Refused where it is not installed.
Result<void> open_libpq();

/// After open_libpq() only.
const Libpq& libpq();

struct FreePq {
  void operator()(PGconn* connection) const { libpq().finish(connection); }
  void operator()(PGresult* result) const { libpq().clear(result); }
  void operator()(char* buffer) const { libpq().freemem(buffer); }
};
using PqConnection = std::unique_ptr<PGconn, FreePq>;
using PqAnswer = std::unique_ptr<PGresult, FreePq>;

/// A connection that stands and prints nothing by itself.
Result<PqConnection> connect_to_postgresql(const std::string& dsn);

}  // namespace parley::data
