#include "parley/protocol/vertical/exchange.h"

#include <gtest/gtest.h>

#include "support/columns_charter.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::protocol {
namespace exchange_test {

constexpr size_t kRecords = 40, kHolder = 1;

struct Agency {
  test::StoppedClock clock;
  ledger::Ledger ledger = test::memory_ledger("agency-1", clock);
  ledger::DatasetId dataset =
      *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-5, 0));
  gate::ColumnsGate gate;

  explicit Agency(const plan::VerticalTerms& terms)
      : gate(*gate::ColumnsGate::open(gate::Records(rows()), terms, 0, ledger, dataset)) {}
  static data::AnyRows rows() {
    auto rows = std::make_shared<data::Rows>(2);
    for (size_t i = 0; i < kRecords; ++i) rows->add(std::array{.01 * double(i), -.3}, 1.);
    return std::shared_ptr<const data::Rows>(rows);
  }
};

/// With one noise for two rounds their difference would be open, exactly.
TEST(NoisyExchange, TheNoiseOfTwoRoundsDiffersAlsoUnderOneSeed) {
  const auto charter = charter::parse_charter(test::columns_charter(1, kRecords, "noisy_sharing"),
                                              "columns.toml", {});
  ASSERT_TRUE(charter) << describe(charter.error());
  Agency agency(*plan::vertical_terms(*charter));
  const auto exchange = make_exchange(agency.gate, Secret32{1});
  exchange->begin_session();
  exchange->setup({});
  ASSERT_TRUE(exchange->take_setup(kHolder, Words<Word>(kRecords)));
  ASSERT_TRUE(exchange->take_setup(2, {}));
  const auto given = [&](uint32_t round, uint8_t seed) {
    exchange->return_to({});
    return exchange->begin_round({.session = 1, .round = round, .seed = Secret32{seed}})
        ->front()
        .words;
  };
  EXPECT_EQ(given(1, 7), given(1, 7)) << "a round that is repeated is the same";
  EXPECT_NE(given(1, 7), given(2, 7));
  EXPECT_NE(given(1, 7), given(1, 8));
}

}  // namespace exchange_test
}  // namespace parley::protocol
