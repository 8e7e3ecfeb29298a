#include "parley/sim/standin/lending.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::sim {
namespace {

constexpr double kRateLow = 5.32, kRateHigh = 28.99, kFileRows = 890'000;

double logistic(double x) { return 1 / (1 + portable_exp(-x)); }

/// Number of seven grades' limits below q: N(0,1) quantiles of the published shares of grades.
int grade_of(double q) {
  constexpr double kLimits[] = {-.966, -.113, .618, 1.213, 1.852, 2.512};
  return static_cast<int>(std::lower_bound(std::begin(kLimits), std::end(kLimits), q) - kLimits);
}

/// What is paid each month on a loan that is paid back in `months`.
double installment_of(double amount, double rate, int months) {
  const double monthly = rate / 1200;
  double growth = 1;
  for (int month = 0; month < months; ++month) growth *= 1 + monthly;
  return amount * monthly / (1 - 1 / growth);
}

/// One loan; returns its rate. Formulas and constants are here only (theory (W14));
/// the order of the draws is part of the format, since every file and its hash
/// depends on it.
double draw(const LendingOptions& options, uint64_t row,
            std::span<double, Lending::kAttributes> attributes) {
  constexpr double kHome[] = {.5, .4, .1}, kVerification[] = {.30, .37, .33};
  SeededRandom random(options.seed, row);
  const double drift = options.drift;
  const double time = options.along_file ? std::sqrt(double(row) / kFileRows)
                                         : double(row) / double(options.rows + options.pilot);
  const double quality = random.normal();  // the higher, the riskier
  const double wealth = random.normal();
  const double grade = grade_of(quality);
  const double sub_grade = std::clamp(std::floor((quality + 2.2) * 7.2), 0., 34.);
  const double log_income = 11.08 + .55 * (.9 * wealth - .25 * quality);
  const double income = portable_exp(log_income) / 1e4;
  const double amount =
      std::clamp(portable_exp(9.45 + .6 * (.45 * wealth + .85 * random.normal() + .1 * quality)),
                 500., 35000.);
  const double long_term =
      random.uniform() < logistic(-1.2 + .9 * quality + .00003 * (amount - 15000));
  const double employed = std::min(random.index(14), 10);
  const double home = 1 + random.choice(kHome);
  const double verification = 1 + random.choice(kVerification);
  const double dti =
      std::clamp(18 + 8 * (.8 * random.normal() + .25 * quality - .2 * wealth), 0., 40.);
  const double risk = portable_exp(.25 * quality);
  const double delinquencies = random.poisson(.31 * risk);
  const double inquiries = random.poisson(.69 * risk);
  const double open_accounts = std::clamp(11.5 + 5.3 * random.normal() + wealth, 1., 60.);
  const double public_records = random.poisson(.2);
  const double log_balance = 9.35 + .6 * wealth + .8 * random.normal();
  const double utilisation = std::clamp(55 + 24 * (.4 * quality + .9 * random.normal()), 0., 120.);
  const double accounts = std::clamp(open_accounts * 1.6 + 7 + 7 * random.normal(), 2., 130.);
  const double state = 1 + random.index(51);
  const double purpose = 1 + random.index(14);
  const double collections = random.poisson(.015);
  const double age = std::clamp(41 + 12 * random.normal(), 18., 85.);
  const double exact = 4.05 + .46 * sub_grade * (1 + drift * .30 * (.5 - time)) + .55 * grade +
                       1.1 * long_term + .010 * utilisation + .25 * inquiries -
                       drift * (1.2 + long_term) * (time - .5) + 1.15 * random.normal();
  const double rate = rounded(std::clamp(exact, kRateLow, kRateHigh), 100);
  const double installment =
      installment_of(amount, rate, long_term > 0 ? 60 : 36) * (1 + .02 * random.normal());
  const double all[] = {amount,      long_term,     grade,          sub_grade,   employed,
                        home,        log_income,    verification,   dti,         delinquencies,
                        inquiries,   open_accounts, public_records, log_balance, utilisation,
                        accounts,    state,         purpose,        collections, age,
                        installment, income};
  static_assert(std::size(all) == Lending::kAttributes);
  std::transform(std::begin(all), std::end(all), attributes.begin(),
                 [](double value) { return rounded(value, 1e6); });
  return rate;
}

Result<void> check_options(const LendingOptions& options) {
  TRY(check_sizes(options.rows, options.pilot));
  const auto wrong = [](const char* key, const char* what) {
    return Error{Code::kInvalid, what, "Give a value within these limits.", {.key = key}};
  };
  if (!(std::fabs(options.drift) <= 10)) return wrong("drift", "must be from -10 to 10");
  if (options.components < 1 || options.components > int(Lending::kAttributes))
    return wrong("components", "must be from 1 to 22");
  return {};
}

}  // namespace

Result<Lending> Lending::make(const LendingOptions& options) {
  TRY(check_options(options));
  std::vector<double> pilot(options.pilot * kAttributes);
  for (uint64_t i = 0; i < options.pilot; ++i)
    draw(options, options.rows + i, std::span(pilot).subspan(i * kAttributes).first<kAttributes>());
  return Lending(options, TRY(data::Whitening::fit(pilot, kAttributes, options.components)));
}

void Lending::raw(uint64_t row, std::span<double, kAttributes> attributes, double& rate) const {
  check(row < rows());
  rate = draw(options_, row, attributes);
}

void Lending::features(uint64_t row, std::span<double> z, double& rate) const {
  std::array<double, kAttributes> attributes;
  raw(row, attributes, rate);
  whitening_.apply(attributes, z);
  for (double& value : z) value = rounded(value, 1e6);
}

std::vector<std::string> Lending::raw_names() {
  return {"loan_amnt",      "term",           "grade",        "sub_grade",     "emp_length",
          "home_ownership", "log_annual_inc", "verification", "dti",           "delinq_2yrs",
          "inq_last_6mths", "open_acc",       "pub_rec",      "log_revol_bal", "revol_util",
          "total_acc",      "addr_state",     "purpose",      "collections",   "age",
          "installment",    "annual_inc_10k"};
}

std::vector<std::string> Lending::feature_names() const {
  std::vector<std::string> names;
  for (size_t i = 1; i <= components(); ++i) names.push_back("pc" + std::to_string(i));
  return names;
}

Result<Standin> lending_standin(const StandinOptions& options) {
  const auto rows = std::accumulate(options.owners.begin(), options.owners.end(), uint64_t{0});
  const auto lending =
      std::make_shared<const Lending>(TRY(Lending::make({.rows = rows,
                                                         .pilot = options.pilot,
                                                         .seed = options.seed,
                                                         .drift = options.drift,
                                                         .components = options.components})));
  Standin standin{.columns = options.raw ? Lending::raw_names() : lending->feature_names(),
                  .target = kLendingTarget,
                  .rows = lending->rows(),
                  .draw = {}};
  if (options.raw)
    standin.draw = [lending](uint64_t row, std::span<double> values, double& rate) {
      lending->raw(row, values.first<Lending::kAttributes>(), rate);
    };
  else
    standin.draw = [lending](uint64_t row, std::span<double> values, double& rate) {
      lending->features(row, values, rate);
    };
  return standin;
}

}  // namespace parley::sim
