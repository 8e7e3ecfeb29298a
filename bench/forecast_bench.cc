// How long a forecast takes once the pilot is in memory: 10,000 public rows of 30 features. Prints
// milliseconds, by the clock and of processors, the best of five, with two threads. The 40 x 40 map
// is part of each.
//
//   forecast_bench [WORDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/forecast.h"

namespace {

using namespace parley;

constexpr size_t kRows = 10000, kColumns = 30;

std::shared_ptr<const data::Rows> pilot_of(bool classes) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  SeededRandom random(1, 1);
  for (size_t i = 0; i < kRows; ++i) {
    std::vector<double> z(kColumns);
    double y = .3 * random.normal();
    for (size_t j = 0; j < kColumns; ++j) z[j] = random.normal(), y += (j % 2 ? .1 : -.1) * z[j];
    rows->add(z, classes ? (y > 0 ? 1 : -1) : y);
  }
  return rows;
}

struct Case {
  const char* what;
  std::string model, protocol;
  double clip = 200, epsilon = 1;
  size_t owners = 3, rows = 20000;
  bool classes = false;
  const char* name = "sync";
};

std::string toml(const Case& c) {
  std::string text =
      "[charter]\nversion = 1\nname = \"bench\"\nconsortium = \"bench.example\"\n[pilot]\n"
      "file = \"p.csv\"\nsha256 = "
      "\"6f216207ef41b460c1a46d3a73d555580687179a8c61e7fdc3c80ca35c0e209a"
      "\"\nrows = 10000\n[target]\ncolumn = \"y\"\n" +
      std::string(c.classes ? "levels = [\"no\", \"yes\"]" : "bounds = [-9, 9]") +
      "\n[[column]]\nname = \"x\"\nkind = \"number\"\nbounds = [-9, 9]\nmissing = 0\ncount = 30\n"
      "[model]\n" +
      c.model + "\n[protocol]\nname = \"" + c.name + "\"\n" + c.protocol + "\n[privacy]\n" +
      (c.protocol.empty() ? "" : "max_grad_norm = " + std::to_string(c.clip) + "\n");
  for (size_t i = 0; i < c.owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) +
            "\"\nrows = " + std::to_string(c.rows + 10 * i) +
            "\nepsilon = " + std::to_string(c.epsilon) + "\n";
  return text + "[learner]\nname = \"l\"\n";
}

double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// Wall and processor time, each the best of five, and which predictor was taken.
void measure(const Case& c, const std::shared_ptr<const data::Rows>& pilot) {
  const std::string text = toml(c);
  const auto charter = charter::parse_charter(text, "bench.toml", ".");
  if (!charter) return void(std::fprintf(stderr, "%s\n", describe(charter.error()).c_str()));
  double wall = 1e300, processor = 1e300;
  std::string predictor;
  for (int k = 0; k < 5; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const double used = processor_ms();
    const auto found = forecast::forecast_draft({*charter, text, {}, false}, pilot, {.threads = 2});
    if (!found) return void(std::fprintf(stderr, "%s\n", describe(found.error()).c_str()));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    wall = std::min(wall, took.count());
    processor = std::min(processor, processor_ms() - used);
    predictor = found->forecast.basis.predictor;
  }
  std::printf("| %s | %s | %.0f | %.0f |\n", c.what, predictor.c_str(), wall, processor);
  std::fflush(stdout);
}

}  // namespace

/// With words, only the cases that contain one of them.
int main(int argc, char** argv) {
  const auto values = pilot_of(false), classes = pilot_of(true);
  const std::string squared = "loss = \"squared\"\nbox = 2.0";
  const std::string logistic = "loss = \"logistic\"\nl2 = 0.01\nbox = 4.0";
  const std::string hinge = "loss = \"hinge\"\nl2 = 1.0\nbox = 2.0";
  const std::string newton = "rule = \"pilot_newton\"\nrounds = 3\nstep = 1.0";
  const std::string long_run = "rule = \"algorithm2\"\nrounds = 100\nstep = 0.3";
  const std::string short_run = "rule = \"strongly_convex\"\nrounds = 25\nstep = 1.0";
  const std::string async = "rounds = 300\nanswers = 100\nstep = 0.1";
  const std::string many = "rounds = 4000\nanswers = 4\nstep = 0.0001";
  const Case cases[] = {
      {"squared, 3 owners, pilot_newton, 3 rounds", squared, newton},
      {"squared, 3 owners, algorithm2, 100 rounds", squared, long_run, 400, 10, 3, 100000},
      {"squared, 3 owners, algorithm2, 100 rounds, clipped", squared, long_run, 20},
      {"squared, 3 owners, algorithm2, 100 rounds, the box decides", squared, long_run},
      {"squared, 3 owners, asynchronous, 300 rounds", squared, async, 400, 10, 3, 100000, false,
       "async"},
      {"logistic, 3 owners, pilot_newton, 3 rounds", logistic, newton, 200, 1, 3, 20000, true},
      {"logistic, 3 owners, algorithm2, 100 rounds", logistic, long_run, 30, 1, 3, 20000, true},
      {"logistic, 3 owners, algorithm2, 100 rounds, the box decides", logistic, long_run, 200, 1, 3,
       20000, true},
      {"hinge, 3 owners, strongly_convex, 25 rounds", hinge, short_run, 200, 1, 3, 20000, true},
      {"hinge, 3 owners, algorithm2, 100 rounds", hinge, long_run, 30, 1, 3, 20000, true},
      {"squared, 1,000 owners, pilot_newton, 3 rounds", squared, newton, 200, 1, 1000},
      {"squared, 1,000 owners, asynchronous, 4,000 rounds", squared, many, 400, 10, 1000, 20000,
       false, "async"},
      {"logistic, 1,000 owners, algorithm2, 100 rounds", logistic, long_run, 30, 1, 1000, 20000,
       true},
      {"squared, 3 owners, a draft: everything chosen", squared, ""},
      {"logistic, 3 owners, a draft: everything chosen", logistic, "", 0, 1, 3, 20000, true}};
  std::printf("| | predictor | ms | processor ms |\n|---|---|---|---|\n");
  for (const Case& c : cases)
    if (argc < 2 || std::string(c.what).find(argv[1]) != std::string::npos)
      measure(c, c.classes ? classes : values);
}
