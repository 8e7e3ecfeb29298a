/* Parley from C, and from every language that can call C: one call for all commands that have a
 * result, tables that are read where they lie, and exact partial sums.
 *
 *   char* json = NULL;
 *   int status = parley_call("account", "{\"gaussian\": 12, \"count\": 100, \"delta\": 1e-6}",
 *                            NULL, NULL, &json);
 *   puts(json);                      // {"result": {...}, "text": "..."}, or an error
 *   parley_free(json);
 *
 * Commands and their arguments: docs/reference/c.md. Nothing here throws, exits or prints.
 * Functions may be called from several threads at once; one parley_tables may be read by several
 * calls, but not while something is added to it. Texts are UTF-8. */
#ifndef PARLEY_C_H
#define PARLEY_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PARLEY_EXPORT __attribute__((visibility("default")))
#else
#define PARLEY_EXPORT
#endif

/* Of this interface. A library of version n has every function and every argument of the versions
 * before it, with the meaning that they had. */
#define PARLEY_C_VERSION 1

/* What functions return: the exit codes of the command line program. Whenever it is not PARLEY_OK,
 * the JSON that is handed out is an object {"format": "parley.error/1", "code", "what", "where":
 * {"file", "line", "column", "key"}, "hint", ...} that states public facts only. */
enum {
  PARLEY_OK = 0,
  PARLEY_FAILED = 1,      /* the machine failed, or the caller stopped the call */
  PARLEY_INVALID = 2,     /* arguments or files are wrong */
  PARLEY_REFUSED = 3,     /* by policy or budget: nothing was spent */
  PARLEY_UNREACHABLE = 4, /* a peer is */
  PARLEY_INTEGRITY = 5    /* a hash, signature or ledger is not what it must be */
};

/* PARLEY_C_VERSION of the library that is loaded. */
PARLEY_EXPORT int parley_c_version(void);
/* "major.minor.patch" of it; valid as long as the library is loaded. */
PARLEY_EXPORT const char* parley_version(void);

/* Releases a text that a function handed out; NULL is allowed. */
PARLEY_EXPORT void parley_free(char* text);

/* --- Tables: named, each made of blocks of columns side by side. ---
 * Rows are read where they lie, so that arrays must stay as they are until parley_tables_free. A
 * NaN, a null and an empty text are missing values. */
typedef struct parley_tables parley_tables;

/* NULL if there is no memory. */
PARLEY_EXPORT parley_tables* parley_tables_new(void);
PARLEY_EXPORT void parley_tables_free(parley_tables* tables);

/* Numbers: value (i, j) lies at (const char*)values + i * row_stride + j * column_stride, strides
 * in bytes; `names` has one name for each column. `error`, which may be NULL, gets a text for
 * parley_free where the result is not PARLEY_OK; nothing was added then. */
PARLEY_EXPORT int parley_tables_add_doubles(parley_tables* tables, const char* table,
                                            const char* const* names, const double* values,
                                            uint64_t rows, uint64_t columns, int64_t row_stride,
                                            int64_t column_stride, char** error);

/* The same from compressed sparse rows: entries offsets[i] to offsets[i + 1] are row i's, absent
 * ones are 0, and several at one place add up. */
PARLEY_EXPORT int parley_tables_add_sparse(parley_tables* tables, const char* table,
                                           const char* const* names, const double* values,
                                           const int64_t* indices, const int64_t* offsets,
                                           uint64_t rows, uint64_t columns, char** error);

/* All record batches of a stream by the Arrow C stream interface, which is moved into the tables
 * (its release is NULL afterwards) also where the result is not PARLEY_OK. Columns are numbers,
 * booleans, texts (utf8, large_utf8, utf8_view), nulls or dictionaries of these. */
struct ArrowArrayStream;
PARLEY_EXPORT int parley_tables_add_stream(parley_tables* tables, const char* table,
                                           struct ArrowArrayStream* stream, char** error);

/* --- Calls --- */

/* How a long call tells how far it is and is stopped. `size` is sizeof(parley_hooks). */
typedef struct parley_hooks {
  size_t size;
  void* user;
  /* Hears that `done` of `total` parts are done; a result other than 0 stops the call soon, with
   * PARLEY_FAILED. What was paid by then is in its ledger. May be NULL. Called from the calling
   * thread or from one of the library's own, never from two at a time. */
  int (*progress)(void* user, uint64_t done, uint64_t total);
} parley_hooks;

/* Runs a command with arguments, a JSON object (NULL: none). `tables` and `hooks` may be NULL.
 * `json`, which must not be NULL, always gets a text for parley_free: the result, or the error;
 * NULL if there is no memory even for that. */
PARLEY_EXPORT int parley_call(const char* command, const char* arguments,
                              const parley_tables* tables, const parley_hooks* hooks, char** json);

/* The exact sum of the clipped gradients of a table's records at theta, on the charter's lattice,
 * as an owner's gate adds them up before noise: sums of parts of the rows add up to that of all, in
 * any order. NOT PRIVATE: it is for the owner's own machines and must not leave them. `arguments`
 * are
 * {"charter" | "charter_file", "folder", "set", "table"}; theta and sum have `numbers` numbers, one
 * for each feature of the charter. `error` as above. */
PARLEY_EXPORT int parley_partial_sum(const char* arguments, const parley_tables* tables,
                                     const double* theta, int64_t* sum, uint64_t numbers,
                                     char** error);

#ifdef __cplusplus
}
#endif

#endif
