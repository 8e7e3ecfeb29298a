// A ledger for people and for programs.
#pragma once

#include <string>

#include "parley/ledger/read.h"

namespace parley::report {

std::string to_text(const ledger::Contents& contents);
std::string to_json(const ledger::Contents& contents);  // parley.ledger/1
/// Also the text, for it is made for programs.
std::string to_json(const ledger::Exported& exported);  // parley.ledger.export/1
std::string to_text(const ledger::Verified& verified);
std::string to_json(const ledger::Verified& verified);  // parley.ledger.verify/1

}  // namespace parley::report
