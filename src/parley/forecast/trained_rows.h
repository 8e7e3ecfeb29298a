// Public rows as training would see them: protocols that shorten records instead of gradients do so
// once, before the first step, and to every record that is predicted.
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

}  // namespace parley::forecast
