// What the figures of the vertical paper are drawn from: objective and test loss by epoch, of ADMM
// sharing and of what it is compared with.
#pragma once

#include <string>
#include <vector>

#include "parley/learn/vertical/admm/admm.h"
#include "studies/paper/sharing.h"
#include "studies/reproduce/data/columns_apart.h"

namespace parley::reproduce::sharing {

inline constexpr int kEpochs = 20;

struct Trace {
  std::vector<double> objective{}, test_loss{};  // after every epoch
  std::string stopped{};                         // why it has fewer of them

  Series objectives(std::string name, bool sound = false) const;
  Series test_losses(std::string name, bool sound = false) const;
};

/// Mean log loss on the test records of all parties' models, one after the other.
double test_loss(const ColumnsApart& columns, const std::vector<double>& model);

/// Without noise. One that diverges ends early.
Trace by_admm(const ColumnsApart& columns, learn::AdmmOptions options, const Study& study);
/// With the paper's noise, which is none that protects.
Result<Trace> by_noisy_admm(const ColumnsApart& columns, const paper::ColumnNoises& noises,
                            learn::AdmmOptions options, double sigma, const Study& study);
/// Stochastic gradients over distributed features.
Trace by_gradients(const ColumnsApart& columns, double lam, double step, const Study& study);

/// One party, or all as one, to the end.
struct Alone {
  double objective = 0, test_loss = 0;
};
/// What all as one reach is computed once for all figures.
Alone first_party(const ColumnsApart& columns, double lam, const Study& study);
Alone all_in_one_place(const ColumnsApart& columns, double lam, const Study& study);

Axis epochs();
Axis objective_axis();
Axis test_axis();
Figure sharing_figure(const Study& study, std::string id, std::string item, std::string title,
                      std::string claim);

}  // namespace parley::reproduce::sharing
