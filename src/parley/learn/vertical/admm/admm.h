// ADMM sharing (Hu et al., "Learning privately over distributed features"): parties hold different
// columns of the same records and fit one model by sending each other one number per record and
// round. Without noise, hence NOT PRIVATE: for simulations, and as a baseline of private protocols.
//
// Minimised is the sum over records of l(z_i) plus the parties' penalties, z = sum of D_m x_m. With
// q_m = D_m x_m, S their sum, z and y of the coordinator, M parties:
//
//   party:        x_m = argmin penalty + (rho/2)|D_m x - (q_m - h)|^2
//   coordinator:  z_i = argmin l(z) - y_i z + (rho_z/2)(S_i - z)^2;  y += rho_z (S - z)
//                 h = c (S - z) + y / rho
//
// The paper has c = 1, rho_z = rho, which is Jacobi's iteration and diverges for small rho or if
// the parties' columns are similar; Boyd et al. (7.3) have c = 1/M, rho_z = rho/M, which does not
// diverge. After every round y = l'(z), so y, which is sent without noise, reveals every label.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "parley/learn/loss.h"
#include "parley/learn/vertical/admm/party_step.h"

namespace parley::learn {

enum class Scaling { kBoyd, kPaper };

struct AdmmOptions {
  Losses loss = Logistic{};
  Penalty penalty = Penalty::kSquares;
  double lam = 1;  // of the sum: records times the mean form's
  double rho = 0.1;
  Scaling scaling = Scaling::kBoyd;
  bool warm = true;  // y = l'(0) at first; else 0, and the first round does nothing
  int rounds_max = 20;
  double tolerance = 0;  // stops once both residuals are below this per root of records; 0: never
  bool guard = true;     // an error if it diverges
  int threads = 1;
};

/// The side that knows the labels.
class Coordinator {
 public:
  Coordinator(const AdmmOptions& options, std::span<const double> labels, size_t parties);

  /// What every party gets: one number per record.
  std::span<const double> message() const { return h_; }
  /// The sum of the parties' shares.
  void step(std::span<const double> sum);

  std::span<const double> z() const { return z_; }
  std::span<const double> y() const { return y_; }
  double primal_residual() const { return primal_; }  // |S - z|
  double dual_residual() const { return dual_; }      // rho_z |S - S before|

 private:
  void make_message(std::span<const double> sum);

  AdmmOptions options_;
  std::span<const double> labels_;
  double c_, rho_z_;
  std::vector<double> sum_, z_, y_, h_;
  double primal_ = 0, dual_ = 0;
};

struct AdmmRound {
  int round = 0;
  double objective = 0;  // per record, at S
  double primal_residual = 0, dual_residual = 0;
};

struct AdmmResult {
  std::vector<std::vector<double>> models{};  // of each party
  std::vector<AdmmRound> rounds{};
};

/// What a caller may watch and change.
struct AdmmHooks {
  struct View {
    const AdmmRound& round;
    const std::vector<PartyStep>& parties;
    const Coordinator& coordinator;
  };
  std::function<void(size_t party, PartyStep& step)> after_step = [](size_t, PartyStep&) {};
  std::function<void(const View& view)> after_round = [](const View&) {};
};

/// Runs it. An error if it diverges: not finite, or, in the paper's scaling, twice in a row half
/// above the objective of the model that is 0.
Result<AdmmResult> share_by_admm(const std::vector<data::AnyRows>& columns,
                                 std::span<const double> labels, const AdmmOptions& options,
                                 const AdmmHooks& hooks = {});

}  // namespace parley::learn
