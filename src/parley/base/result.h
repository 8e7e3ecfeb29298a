// Result, as the public header has it, and a short name for its macro.
#pragma once

#include "parley/result.h"

#define TRY(expression) PARLEY_TRY(expression)
