// `parley demo --web`: forecast, slide, train, watch, and the outcome beside the forecast.
#pragma once

#include <atomic>

#include "parley/api/demo/demo.h"
#include "parley/api/web/serve.h"

namespace parley::api {

/// Until `stop` is set. Without a file in `table`, of forty hospitals.
Result<void> demo_pages(const DemoTable& table, const DemoOptions& options, const PageOptions& page,
                        const std::atomic<bool>& stop);

}  // namespace parley::api
