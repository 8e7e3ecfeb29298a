// Public rows as training would see them. Protocols that shorten records instead of gradients do so
// once, before the first step, and to every record that is predicted. Of columns in several places:
// who holds which features, and what a group of owners would hold.
#pragma once

#include <memory>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"

namespace parley::forecast {

using SharedRows = std::shared_ptr<const data::Rows>;

SharedRows as_trained(const charter::Charter& charter, const SharedRows& rows);
std::vector<SharedRows> as_trained(const charter::Charter& charter,
                                   const std::vector<SharedRows>& many);

/// The owner of every feature of the charter's schema, by place; the bias is the label holder's.
std::vector<size_t> feature_owners(const charter::Charter& charter);
size_t label_holder(const charter::Charter& charter);

/// Members going up. The charter as if nobody else were there.
charter::Charter charter_of(const charter::Charter& charter, const std::vector<size_t>& members);
/// The features of some owners, of rows that have all.
SharedRows features_of(const charter::Charter& charter, const data::Rows& rows,
                       const std::vector<size_t>& members);

/// Every owner's part of a row no longer than its max_row_norm.
SharedRows shortened_parts(const charter::Charter& charter, const data::Rows& rows);

}  // namespace parley::forecast
