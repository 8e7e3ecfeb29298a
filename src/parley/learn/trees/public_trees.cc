#include "parley/learn/trees/public_trees.h"

namespace parley::learn {
namespace {

Losses growing_loss(const Losses& model) {
  if (const auto* hinge = std::get_if<Hinge>(&model)) return Logistic{hinge->weights};
  if (std::holds_alternative<Logistic>(model)) return model;
  return Squared{};
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
