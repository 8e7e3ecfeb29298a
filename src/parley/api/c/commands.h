// The commands of parley_call, grouped by what they work on.
#pragma once

#include "parley/api/c/call.h"

namespace parley::api {

// Public numbers and files: look.cc.
Command charter_check, charter_explain, account_epsilon, account_calibrate, audit_attack,
    verify_model;
// A ledger: ledger.cc.
Command ledger_show, ledger_verify, ledger_export, ledger_create;
// Jobs, and what they would be worth: jobs.cc. Models of one table: fit_command.cc.
Command forecast_job, simulate_job, owner_value, predict_table, fit_table;

}  // namespace parley::api
