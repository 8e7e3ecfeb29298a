// All of Parley: differentially private training among several owners of data.
//
//   #include <parley/parley.h>
//
//   result, bytes, version, progress           what all others use
//   charter, policy, explain                   what was agreed, and what an owner allows
//   data, simulate, forecast                   a job in one process; what it would be worth
//   credentials, owner, learner                a job over the network
//   ledger, verify                             what was spent, and the proof of it
//   model, predict                             what comes out
//   account, audit                             what releases cost; attacks on ourselves
#pragma once

#include "parley/account.h"
#include "parley/audit.h"
#include "parley/bytes.h"
#include "parley/charter.h"
#include "parley/credentials.h"
#include "parley/data.h"
#include "parley/explain.h"
#include "parley/forecast.h"
#include "parley/learner.h"
#include "parley/ledger.h"
#include "parley/model.h"
#include "parley/owner.h"
#include "parley/policy.h"
#include "parley/predict.h"
#include "parley/progress.h"
#include "parley/result.h"
#include "parley/simulate.h"
#include "parley/verify.h"
#include "parley/version.h"
