#include "parley/net/control/open_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace parley::net::open_metrics_test {
namespace {

using enum OpenMetrics::Form;
using enum OpenMetrics::Kind;

TEST(OpenMetrics, AnnouncesFamiliesAndEndsTheText) {
  OpenMetrics metrics(kOpenMetrics);
  metrics.family(kGauge, "parley_a", "Some figure.");
  metrics.sample({}, 1.5);
  metrics.family(kCounter, "parley_b", "How often.");
  metrics.sample({{"why", "x"}}, 3);
  metrics.sample({{"why", "y"}, {"who", "z"}}, 0);
  EXPECT_EQ(std::move(metrics).text(),
            "# HELP parley_a Some figure.\n# TYPE parley_a gauge\nparley_a 1.5\n"
            "# HELP parley_b How often.\n# TYPE parley_b counter\n"
            "parley_b_total{why=\"x\"} 3\nparley_b_total{why=\"y\",who=\"z\"} 0\n# EOF\n");
}

TEST(OpenMetrics, TheOlderFormNamesCountersInFullAndHasNoEnd) {
  OpenMetrics metrics(kPrometheus);
  metrics.family(kCounter, "parley_b", "How often.");
  metrics.sample({}, 3);
  EXPECT_EQ(std::move(metrics).text(),
            "# HELP parley_b_total How often.\n# TYPE parley_b_total counter\nparley_b_total 3\n");
}

TEST(OpenMetrics, NobodysTextBreaksALine) {
  const std::string foreign = "a\"b\\c\nd} 7";
  for (const auto form : {kOpenMetrics, kPrometheus}) {
    OpenMetrics metrics(form);
    metrics.family(kGauge, "parley_a", foreign);
    metrics.sample({{"name", foreign}}, 1);
    const std::string text = std::move(metrics).text();
    EXPECT_NE(text.find("parley_a{name=\"a\\\"b\\\\c\\nd} 7\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find(form == kOpenMetrics ? "HELP parley_a a\\\"b\\\\c\\nd} 7\n"
                                             : "HELP parley_a a\"b\\\\c\\nd} 7\n"),
              std::string::npos)
        << text;
  }
}

TEST(OpenMetrics, BucketsAddUp) {
  OpenMetrics metrics(kOpenMetrics);
  metrics.family(kHistogram, "parley_s", "Times.");
  metrics.buckets({{"id", "1"}}, {0.5, 10}, {2, 3, 4});
  EXPECT_EQ(std::move(metrics).text(),
            "# HELP parley_s Times.\n# TYPE parley_s histogram\n"
            "parley_s_bucket{id=\"1\",le=\"0.5\"} 2\nparley_s_bucket{id=\"1\",le=\"10\"} 5\n"
            "parley_s_bucket{id=\"1\",le=\"+Inf\"} 9\n# EOF\n");
}

TEST(OpenMetrics, WritesNumbersThatAreNone) {
  OpenMetrics metrics(kOpenMetrics);
  metrics.family(kGauge, "parley_a", "");
  metrics.sample({{"n", "1"}}, std::numeric_limits<double>::infinity());
  metrics.sample({{"n", "2"}}, -std::numeric_limits<double>::infinity());
  metrics.sample({{"n", "3"}}, std::nan(""));
  const std::string text = std::move(metrics).text();
  EXPECT_NE(text.find("{n=\"1\"} +Inf\n"), std::string::npos);
  EXPECT_NE(text.find("{n=\"2\"} -Inf\n"), std::string::npos);
  EXPECT_NE(text.find("{n=\"3\"} NaN\n"), std::string::npos);
}

}  // namespace
}  // namespace parley::net::open_metrics_test
