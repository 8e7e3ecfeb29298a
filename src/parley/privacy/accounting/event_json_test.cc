#include "parley/privacy/accounting/event_json.h"

#include <gtest/gtest.h>

#include "parley/privacy/budget/tracks.h"
#include "parley/privacy/mechanisms.h"

namespace parley::privacy {
namespace event_json_test {

Events read(const std::string& text, const std::string& dataset = "") {
  const auto events = events_from_json(text, "events.json", dataset);
  EXPECT_TRUE(events) << (events ? "" : describe(events.error()));
  return events ? *events : Events{};
}

std::string key_of_error(const std::string& text, const std::string& dataset = "") {
  const auto events = events_from_json(text, "events.json", dataset);
  return events ? "accepted" : events.error().where.key + ": " + events.error().what;
}

TEST(EventJson, ReadsEveryKindAndCountsEqualOnesTogether) {
  const Events events = read(R"({"composed": {"events": [
      {"self_composed": {"count": 20, "event": {"gaussian": {"noise_multiplier": 5}}}},
      {"gaussian": {"noise_multiplier": 5}},
      {"laplace": {"noise_multiplier": 10}},
      {"discrete_laplace": {"noise_parameter": 0.5, "sensitivity": 3}},
      {"discrete_gaussian": {"sigma": 4, "sensitivity": 1}},
      {"poisson_sampled": {"sampling_probability": 0.01,
                           "event": {"gaussian": {"noise_multiplier": 1}}}},
      {"poisson_sampled": {"sampling_probability": 0.01, "delta": 1e-9,
                           "event": {"gaussian": {"noise_multiplier": 1}}}},
      {"gaussian": {"noise_multiplier": 3.9, "sensitivity": 2.5, "variance": 100}},
      {"gaussian_shares": {"variance": 400, "honest": 6, "present": 10, "dimension": 100,
                           "sensitivity": 16}},
      {"skellam": {"variance": 1000, "dimension": 100, "sensitivity": 16}},
      {"self_composed": {"count": 3, "event": {"self_composed": {"count": 2, "event":
          {"zcdp": {"rho": 0.1}}}}}},
      {"approximate_dp": {"epsilon": 0.1, "delta": 1e-9}},
      {"no_op": {}}]}})");
  const Events expected = {{GaussianEvent{5}, 21},
                           {LaplaceEvent{10}, 1},
                           {DiscreteLaplaceEvent{2, 3}, 1},
                           {DiscreteGaussianEvent{4, 1}, 1},
                           {SampledGaussianEvent{.01, 1}, 1},
                           {SampledGaussianEvent{.01, 1, 1e-9}, 1},
                           {DiscreteGaussianEvent{10, 2.5}, 1},
                           {SharesEvent{400, 6, 10, 100, 16}, 1},
                           {SkellamEvent{1000, 100, 16}, 1},
                           {ZcdpEvent{.1, 0}, 6},
                           {ApproximateEvent{.1, 1e-9}, 1}};
  EXPECT_EQ(events, expected);
  EXPECT_EQ(read(events_to_json(expected)), expected) << "what is written is read back";
}

TEST(EventJson, ReadsWhatALedgerStores) {
  const std::string event = Laplace::make(1000)->event(20);
  EXPECT_EQ(read(event), (Events{{DiscreteLaplaceEvent{1000, 20}, 1}}));
  const std::string rows =
      R"({"rows": [{"kind": "budget", "dataset": "a", "event": {"budget": 1}},
                   {"kind": "answer", "dataset": "a", "event": )" +
      event + R"(},
                   {"kind": "answer", "dataset": "b", "event": {"zcdp": {"rho": 1}}},
                   {"kind": "evaluation", "dataset": "a", "event": )" +
      event + "}]}";
  EXPECT_EQ(read(rows, "a"), (Events{{DiscreteLaplaceEvent{1000, 20}, 2}}));
  EXPECT_EQ(read(rows, "b"), (Events{{ZcdpEvent{1, 0}, 1}}));
  EXPECT_NE(key_of_error(rows).find("choose one"), std::string::npos);
  EXPECT_NE(key_of_error(rows, "c").find("no events"), std::string::npos);
}

/// What an accountant finds in the event of one answer, against what a ledger was charged.
template <class M>
void expect_same_price(const M& mechanism, double sensitivity) {
  const Spent spent = *spent_on(read(mechanism.event(sensitivity)), Track::kPure);
  const Cost cost = mechanism.cost(sensitivity);
  const double found = cost.track == Track::kPure ? spent.pure : spent.rho;
  EXPECT_GE(found, cost.amount) << M::kName;
  EXPECT_LE(found, cost.amount * (1 + 1e-14)) << M::kName;
  EXPECT_EQ(spent.pure == 0, cost.track == Track::kZcdp) << M::kName;
}

TEST(EventJson, GivesAnAccountantThePriceThatALedgerWasCharged) {
  const Parties parties = *Parties::make(10, 8, 2);
  expect_same_price(*Laplace::make(1001), 20);
  const std::pair<double, double> wide[] = {
      {16, 1}, {17, 2.7}, {1e6 + 1, 100.25}, {0x1p57 + 0x1p20, 0x1p25 + .5}};
  for (const auto& [variance, sensitivity] : wide) {
    expect_same_price(*Gaussian::make(variance), sensitivity);
    expect_same_price(*GaussianShare::make(variance, parties, 30), sensitivity);
  }
  expect_same_price(*Skellam::make(1000, 30), 16.5);
  expect_same_price(SkellamShare(*Skellam::make(1000, 30), parties), 16.5);
}

TEST(EventJson, RefusesSharesThatNobodyIsSureOf) {
  const auto shares = [](const char* who) {
    return key_of_error(std::string(R"({"gaussian_shares": {"variance": 400, "dimension": 1,
                                        "sensitivity": 1, )") +
                        who + "}}");
  };
  EXPECT_EQ(shares(R"("honest": 6, "present": 10)"), "accepted");
  EXPECT_EQ(shares(R"("honest": 11, "present": 10)").substr(0, 23), "gaussian_shares.honest:");
  EXPECT_EQ(shares(R"("honest": 0, "present": 10)").substr(0, 23), "gaussian_shares.honest:");
  EXPECT_NE(key_of_error(R"({"skellam": {"variance": 1, "dimension": 1, "sensitivity": 1}})"),
            "accepted");
}

TEST(EventJson, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(key_of_error("{"), ": is not JSON");
  EXPECT_EQ(key_of_error("[]"), ": has no events");
  EXPECT_EQ(key_of_error(R"([{"gaussian": {}}])").substr(0, 30), "[0].gaussian.noise_multiplier:");
  EXPECT_EQ(key_of_error(R"({"gaussian": {"noise_multiplier": -1}})").substr(0, 26),
            "gaussian.noise_multiplier:");
  EXPECT_EQ(key_of_error(R"({"gaussian": {"noise_multiplier": 1e400}})"), ": is not JSON")
      << "a number that no double can hold";
  EXPECT_EQ(key_of_error(R"({"tree": {}})"), "tree: is not a kind of event that Parley knows");
  EXPECT_EQ(key_of_error(R"({"self_composed": {"count": 1.5, "event": {}}})").substr(0, 20),
            "self_composed.count:");
  EXPECT_EQ(key_of_error(R"({"self_composed": {"count": 2}})").substr(0, 20),
            "self_composed.event:");
  const std::string laplace = R"({"laplace": {"noise_multiplier": 1}})";
  EXPECT_NE(key_of_error(R"({"poisson_sampled": {"sampling_probability": 0.5, "event": )" +
                         laplace + "}}"),
            "accepted");
  std::string deep = laplace;
  for (int i = 0; i < 40; ++i) deep = "[" + deep + "]";
  EXPECT_NE(key_of_error(deep).find("nested too deeply"), std::string::npos);
  std::string often = laplace;
  for (int i = 0; i < 3; ++i)
    often = R"({"self_composed": {"count": 100000, "event": )" + often + "}}";
  EXPECT_NE(key_of_error(often).find("too often"), std::string::npos);
}

}  // namespace event_json_test
}  // namespace parley::privacy
