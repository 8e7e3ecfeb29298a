/* A private model of one table, in C: two fits that share a lifetime budget, and a third that it
 * refuses. */
#include <parley/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2000, COLUMNS = 2 };

static int call(const char* command, const char* arguments, const parley_tables* tables) {
  char* json = NULL;
  const int status = parley_call(command, arguments, tables, NULL, &json);
  printf("%s: status %d\n%.300s\n\n", command, status, json == NULL ? "(no memory)" : json);
  parley_free(json);
  return status;
}

int main(void) {
  static double x[ROWS][COLUMNS], y[ROWS];
  const char* const features[] = {"age", "dose"};
  const char* const target[] = {"y"};
  parley_tables* tables = parley_tables_new();
  int i, failed = 0;
  for (i = 0; i < ROWS; ++i) { /* made-up records */
    x[i][0] = 20 + i % 60;
    x[i][1] = (i * 7919) % 100 / 10.0;
    y[i] = x[i][0] + 4 * x[i][1] > 70;
  }
  if (parley_c_version() < PARLEY_C_VERSION || tables == NULL) return 1;
  failed |= parley_tables_add_doubles(tables, "patients", features, &x[0][0], ROWS, COLUMNS,
                                      sizeof x[0], sizeof x[0][0], NULL) != PARLEY_OK;
  failed |= parley_tables_add_doubles(tables, "patients", target, y, ROWS, 1, sizeof y[0], 0,
                                      NULL) != PARLEY_OK;
  remove("patients.ledger");
  failed |= call("ledger.create",
                 "{\"file\": \"patients.ledger\", \"dataset\": \"patients\", \"epsilon\": 2,"
                 " \"delta\": 1e-6}",
                 NULL) != PARLEY_OK;
  for (i = 0; i < 3; ++i) { /* zCDP adds up below 1 + 1 + 1, but not below 2 */
    const int status =
        call("fit",
             "{\"table\": \"patients\", \"loss\": \"logistic\", \"epsilon\": 1.3, \"delta\": 1e-7,"
             " \"lower\": [18, 0], \"upper\": [100, 10], \"rounds\": 10,"
             " \"ledger\": \"patients.ledger\", \"dataset\": \"patients\"}",
             tables);
    failed |= status != (i < 2 ? PARLEY_OK : PARLEY_REFUSED);
  }
  failed |= call("ledger.verify", "{\"file\": \"patients.ledger\"}", NULL) != PARLEY_OK;
  parley_tables_free(tables);
  remove("patients.ledger");
  return failed;
}
