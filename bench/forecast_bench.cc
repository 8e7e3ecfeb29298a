// How long a forecast takes once the pilot is in memory: 10,000 public rows of 30 features. Prints
// milliseconds, the best of three.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/forecast.h"

namespace {

using namespace parley;

constexpr size_t kRows = 10000, kColumns = 30;

std::shared_ptr<const learn::Rows> pilot_of(bool classes) {
  auto rows = std::make_shared<learn::Rows>(kColumns);
  SeededRandom random(1, 1);
  for (size_t i = 0; i < kRows; ++i) {
    std::vector<double> z(kColumns);
    double y = .3 * random.normal();
    for (size_t j = 0; j < kColumns; ++j) z[j] = random.normal(), y += (j % 2 ? .1 : -.1) * z[j];
    rows->add(z, classes ? (y > 0 ? 1 : -1) : y);
  }
  return rows;
}

std::string toml(const std::string& model, const std::string& protocol, size_t owners,
                 const std::string& target) {
  std::string text =
      "[charter]\nversion = 1\nname = \"bench\"\nconsortium = \"bench.example\"\n[pilot]\n"
      "file = \"p.csv\"\nsha256 = "
      "\"6f216207ef41b460c1a46d3a73d555580687179a8c61e7fdc3c80ca35c0e209a"
      "\"\nrows = 10000\n[target]\ncolumn = \"y\"\n" +
      target +
      "\n[[column]]\nname = \"x\"\nkind = \"number\"\nbounds = [-9, 9]\nmissing = 0\ncount = 30\n"
      "[model]\n" +
      model + "\n[protocol]\nname = \"sync\"\n" + protocol + "\n[privacy]\n" +
      (protocol.empty() ? "" : "max_grad_norm = 200.0\n");
  for (size_t i = 0; i < owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) +
            "\"\nrows = " + std::to_string(20000 + 10 * i) + "\nepsilon = 1.0\n";
  return text + "[learner]\nname = \"l\"\n";
}

void measure(const char* what, const std::string& text,
             const std::shared_ptr<const learn::Rows>& pilot) {
  const auto charter = charter::parse_charter(text, "bench.toml", ".");
  if (!charter) return void(std::fprintf(stderr, "%s\n", describe(charter.error()).c_str()));
  double best = 1e300;
  for (int k = 0; k < 3; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const auto found = forecast::forecast_draft({*charter, text, {}, false}, pilot, {.threads = 2});
    if (!found) return void(std::fprintf(stderr, "%s\n", describe(found.error()).c_str()));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::printf("%-60s %9.1f ms\n", what, best);
}

}  // namespace

int main() {
  const auto values = pilot_of(false), classes = pilot_of(true);
  const std::string number = "bounds = [-9, 9]", level = "levels = [\"no\", \"yes\"]";
  const std::string squared = "loss = \"squared\"\nbox = 2.0";
  const std::string logistic = "loss = \"logistic\"\nl2 = 0.01\nbox = 4.0";
  const std::string hinge = "loss = \"hinge\"\nl2 = 1.0\nbox = 2.0";
  const std::string newton = "rule = \"pilot_newton\"\nrounds = 3\nstep = 1.0";
  const std::string long_run = "rule = \"algorithm2\"\nrounds = 100\nstep = 0.3";
  const std::string short_run = "rule = \"strongly_convex\"\nrounds = 25\nstep = 1.0";
  measure("squared, 3 owners, pilot_newton, 3 rounds", toml(squared, newton, 3, number), values);
  measure("squared, 3 owners, algorithm2, 100 rounds", toml(squared, long_run, 3, number), values);
  measure("logistic, 3 owners, pilot_newton, 3 rounds", toml(logistic, newton, 3, level), classes);
  measure("logistic, 3 owners, algorithm2, 100 rounds", toml(logistic, long_run, 3, level),
          classes);
  measure("hinge, 3 owners, strongly_convex, 25 rounds", toml(hinge, short_run, 3, level), classes);
  measure("squared, 1,000 owners, pilot_newton, 3 rounds", toml(squared, newton, 1000, number),
          values);
  measure("squared, 3 owners, a draft: everything chosen", toml(squared, "", 3, number), values);
}
