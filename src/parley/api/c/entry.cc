// The functions of include/parley/c.h. No exception passes them.
#include <cstdlib>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "parley/api/c/call.h"
#include "parley/api/c/partial_sum.h"
#include "parley/base/version.h"
#include "parley/c.h"
#include "parley/data/arrow/stream.h"
#include "parley/report/charter.h"

struct parley_tables {
  parley::api::Tables tables{};
};

namespace parley::api {
namespace {

char* copied(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Runs work that gives a Result<std::string>; its text, or its error, goes to `json`.
template <class Work>
int guarded(char** json, const Work& work) {
  if (json != nullptr) *json = nullptr;
  const auto fail = [&](const Error& error) {
    try {
      if (json != nullptr) *json = copied(report::to_json(error));
    } catch (...) {
    }
    return exit_status(error.code);
  };
  try {
    const Result<std::string> done = work();
    if (!done) return fail(done.error());
    if (json != nullptr && !done->empty()) *json = copied(*done);
    return PARLEY_OK;
  } catch (const Stopped&) {
    return fail(stopped());
  } catch (const std::bad_alloc&) {
    return fail({Code::kFailed, "there is not enough memory", ""});
  } catch (const std::length_error&) {
    return fail({Code::kFailed, "there is not enough memory", ""});
  } catch (const std::exception& error) {
    return fail({Code::kFailed, std::string("failed: ") + error.what(), ""});
  } catch (...) {
    return fail({Code::kFailed, "failed for an unknown reason", ""});
  }
}

Error missing(const char* what) {
  return {Code::kInvalid, std::string(what) + " must not be NULL", "See include/parley/c.h."};
}

Result<nlohmann::json> arguments_of(const char* text) {
  auto json = nlohmann::json::parse(text == nullptr ? "{}" : text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return Error{Code::kInvalid, "arguments must be a JSON object", "For example {}."};
  return json;
}

Result<Names> names_of(const char* const* names, uint64_t columns) {
  if (names == nullptr && columns > 0) return missing("names");
  if (columns > data::kColumnsMax * 16)
    return Error{Code::kInvalid, "there are too many columns", ""};
  Names found;
  for (uint64_t j = 0; j < columns; ++j) {
    if (names[j] == nullptr) return missing("a name");
    found.emplace_back(names[j]);
  }
  return found;
}

Call::Progress progress_of(const parley_hooks* hooks) {
  if (hooks == nullptr || hooks->size < sizeof(parley_hooks) || hooks->progress == nullptr)
    return {};
  return [hooks = *hooks](uint64_t done, uint64_t total) {
    return hooks.progress(hooks.user, done, total) == 0;
  };
}

template <class Block>
int add_block(parley_tables* tables, const char* table, const char* const* names,
              const Block& block, char** error) {
  return guarded(error, [&]() -> Result<std::string> {
    if (tables == nullptr || table == nullptr) return missing("tables and table");
    TRY(tables->tables.add(table, TRY(cells_of(block, TRY(names_of(names, block.columns))))));
    return std::string();
  });
}

}  // namespace
}  // namespace parley::api

using namespace parley;  // NOLINT: only functions of C follow

int parley_c_version(void) { return PARLEY_C_VERSION; }
const char* parley_version(void) { return kVersion.data(); }
void parley_free(char* text) { std::free(text); }
parley_tables* parley_tables_new(void) { return new (std::nothrow) parley_tables; }
void parley_tables_free(parley_tables* tables) { delete tables; }

int parley_tables_add_doubles(parley_tables* tables, const char* table, const char* const* names,
                              const double* values, uint64_t rows, uint64_t columns,
                              int64_t row_stride, int64_t column_stride, char** error) {
  const api::DenseBlock block{values, rows, columns, row_stride, column_stride};
  return api::add_block(tables, table, names, block, error);
}

int parley_tables_add_sparse(parley_tables* tables, const char* table, const char* const* names,
                             const double* values, const int64_t* indices, const int64_t* offsets,
                             uint64_t rows, uint64_t columns, char** error) {
  const api::SparseBlock block{values, indices, offsets, rows, columns};
  return api::add_block(tables, table, names, block, error);
}

int parley_tables_add_stream(parley_tables* tables, const char* table, ArrowArrayStream* stream,
                             char** error) {
  return api::guarded(error, [&]() -> Result<std::string> {
    auto cells = TRY(data::read_stream(stream));  // First: the stream is taken in any case.
    if (tables == nullptr || table == nullptr) return api::missing("tables and table");
    TRY(tables->tables.add(table, std::move(cells)));
    return std::string();
  });
}

int parley_call(const char* command, const char* arguments, const parley_tables* tables,
                const parley_hooks* hooks, char** json) {
  return api::guarded(json, [&]() -> Result<std::string> {
    if (command == nullptr || json == nullptr) return api::missing("command and json");
    const nlohmann::json given = TRY(api::arguments_of(arguments));
    const api::Tables none;
    api::Call call(given, tables == nullptr ? none : tables->tables, api::progress_of(hooks));
    const auto found = TRY(TRY(api::command_named(command))(call));
    return found.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  });
}

int parley_partial_sum(const char* arguments, const parley_tables* tables, const double* theta,
                       int64_t* sum, uint64_t numbers, char** error) {
  return api::guarded(error, [&]() -> Result<std::string> {
    if (tables == nullptr || theta == nullptr || sum == nullptr)
      return api::missing("tables, theta and sum");
    const nlohmann::json given = TRY(api::arguments_of(arguments));
    api::Call call(given, tables->tables, {});
    TRY(api::partial_sum(call, {theta, numbers}, {sum, numbers}));
    return std::string();
  });
}
