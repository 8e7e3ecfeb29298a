// What we use of ADBC 1.0.0, the C interface of database drivers: names and layout are those of
// adbc.h of Apache Arrow ADBC (https://arrow.apache.org/adbc, Apache License 2.0). A driver is a
// shared library with one function that fills AdbcDriver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parley/data/arrow/interface.h"

extern "C" {
struct AdbcDriver;
using AdbcStatusCode = uint8_t;  // 0 is success

struct AdbcError {
  char* message;
  int32_t vendor_code;
  char sqlstate[5];
  void (*release)(AdbcError*);
  // Of 1.1.0, which drivers touch only if vendor_code says so.
  void* private_data;
  AdbcDriver* private_driver;
};
struct AdbcDatabase {
  void* private_data;
  AdbcDriver* private_driver;
};
struct AdbcConnection {
  void* private_data;
  AdbcDriver* private_driver;
};
struct AdbcStatement {
  void* private_data;
  AdbcDriver* private_driver;
};

using AdbcUnused = AdbcStatusCode (*)();  // a function that we never call

struct AdbcDriver {
  void* private_data;
  void* private_manager;
  AdbcStatusCode (*release)(AdbcDriver*, AdbcError*);
  AdbcStatusCode (*DatabaseInit)(AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*DatabaseNew)(AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*DatabaseSetOption)(AdbcDatabase*, const char*, const char*, AdbcError*);
  AdbcStatusCode (*DatabaseRelease)(AdbcDatabase*, AdbcError*);
  AdbcUnused ConnectionCommit, ConnectionGetInfo, ConnectionGetObjects, ConnectionGetTableSchema,
      ConnectionGetTableTypes;
  AdbcStatusCode (*ConnectionInit)(AdbcConnection*, AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*ConnectionNew)(AdbcConnection*, AdbcError*);
  AdbcUnused ConnectionSetOption, ConnectionReadPartition;
  AdbcStatusCode (*ConnectionRelease)(AdbcConnection*, AdbcError*);
  AdbcUnused ConnectionRollback;
  AdbcUnused StatementBind, StatementBindStream;
  AdbcStatusCode (*StatementExecuteQuery)(AdbcStatement*, ArrowArrayStream*, int64_t*, AdbcError*);
  AdbcUnused StatementExecutePartitions, StatementGetParameterSchema;
  AdbcStatusCode (*StatementNew)(AdbcConnection*, AdbcStatement*, AdbcError*);
  AdbcStatusCode (*StatementPrepare)(AdbcStatement*, AdbcError*);
  AdbcStatusCode (*StatementRelease)(AdbcStatement*, AdbcError*);
  AdbcUnused StatementSetOption;
  AdbcStatusCode (*StatementSetSqlQuery)(AdbcStatement*, const char*, AdbcError*);
  AdbcUnused StatementSetSubstraitPlan;
  AdbcUnused later[64];  // of 1.1.0 and what may follow
};
}

namespace parley::data {

inline constexpr int kAdbcVersion = 1'000'000;  // 1.0.0
inline constexpr AdbcStatusCode kAdbcNotImplemented = 2;
using AdbcDriverInit = AdbcStatusCode (*)(int version, void* driver, AdbcError* error);

}  // namespace parley::data
