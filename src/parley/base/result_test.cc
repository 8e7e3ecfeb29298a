#include "parley/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace parley {
namespace result_test {

Result<int> positive(int value) {
  if (value <= 0) return Error{Code::kInvalid, "must be above 0"};
  return value;
}

Result<int> sum(int a, int b) { return TRY(positive(a)) + TRY(positive(b)); }

Result<void> both(int a, int b) {
  TRY(positive(a));
  TRY(positive(b));
  return {};
}

TEST(Result, TryHandsOnTheValueOrTheFirstError) {
  EXPECT_EQ(*sum(2, 3), 5);
  const Result<int> failed = sum(2, 0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "must be above 0");
  EXPECT_TRUE(both(1, 1));
  EXPECT_FALSE(both(1, -1));
}

TEST(Result, HoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultDeathTest, ReadingAValueThatIsNotThereEndsTheProcessWithoutPrintingValues) {
  const Result<int> failed = Error{Code::kFailed, "secret"};
  EXPECT_DEATH(static_cast<void>(*failed), "^[^ ]*result.h:[0-9]+: check failed\n$");
  EXPECT_DEATH(static_cast<void>(Result<int>(1).error()), "check failed");
}

TEST(Error, SaysWhereAsFarAsItIsKnown) {
  Error error{Code::kInvalid, "must be above 0, found -1"};
  EXPECT_EQ(describe(error), "must be above 0, found -1");
  error.where = {.file = "a.toml"};
  EXPECT_EQ(describe(error), "a.toml: must be above 0, found -1");
  error.where = {.file = "a.toml", .line = 7, .column = 12, .key = "owner[0].epsilon"};
  EXPECT_EQ(describe(error), "a.toml:7:12: owner[0].epsilon: must be above 0, found -1");
  error.where.column = 0;
  EXPECT_EQ(describe(error), "a.toml:7: owner[0].epsilon: must be above 0, found -1");
}

TEST(Error, ExitStatusesAreThoseOfTheCommandLine) {
  EXPECT_EQ(exit_status(Code::kFailed), 1);
  EXPECT_EQ(exit_status(Code::kInvalid), 2);
  EXPECT_EQ(exit_status(Code::kBudgetExhausted), 3);
  EXPECT_EQ(exit_status(Code::kPolicy), 3);
  EXPECT_EQ(exit_status(Code::kUnavailable), 4);
  EXPECT_EQ(exit_status(Code::kIntegrity), 5);
  EXPECT_EQ(name_of(Code::kBudgetExhausted), "budget_exhausted");
  EXPECT_EQ(name_of(Code::kFailed), "failed");
}

}  // namespace result_test
}  // namespace parley
