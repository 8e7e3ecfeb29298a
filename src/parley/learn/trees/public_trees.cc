#include "parley/learn/trees/public_trees.h"

namespace parley::learn {
namespace {

/// What the booster knows: the logistic loss for two classes, squares for numbers.
Losses growing_loss(const Losses& model) {
  return std::visit(
      []<class L>(const L& loss) -> Losses {
        if constexpr (L::kTwoClasses)
          return Logistic{loss.weights};
        else
          return Squared{};
      },
      model);
}

}  // namespace

Result<data::Trees> public_trees(const data::Rows& pilot, const Losses& model,
                                 const BoostOptions& options) {
  BoostOptions settings = options;
  settings.loss = growing_loss(model);
  data::Trees trees = TRY(boost(pilot, settings));
  if (trees.trees.empty())
    return Error{Code::kInvalid, "no tree lowers the loss on the public rows",
                 "Use more rows or fewer in a leaf, or do without trees."};
  return trees;
}

}  // namespace parley::learn
