#include "parley/report/demo/web.h"

#include <fmt/format.h>

#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/report/page/html.h"
#include "parley/report/page/web.h"

namespace parley::report {
namespace {

std::string bar(const char* what, uint64_t done, uint64_t all) {
  return fmt::format(
      "<p>{}: {} of {}</p>\n<progress max={} value={} aria-label=\"{}\"></progress>\n", what,
      grouped(done), grouped(all), std::max<uint64_t>(all, 1), done, what);
}

}  // namespace

std::string demo_job_live(const DemoJob& job) {
  const std::string back =
      fmt::format("<p class=act><a class=button href=\"/?{}\">Back to the sliders</a></p>\n",
                  escaped(job.query));
  if (!job.failed.empty())
    return fmt::format("<h1>This cannot be trained</h1>\n<p class=warn role=alert>{}</p>\n{}",
                       escaped(job.failed), back);
  if (job.demo == nullptr)
    return "<h1>The owners train</h1>\n" + bar("Answers given", job.answers, job.answers_in_all) +
           bar("Owners whose own new rows have judged", job.judged, job.owners) +
           "<p class=quiet>This page follows by itself.</p>\n";
  return "<h1>What came out, beside the forecast</h1>\n" + back +
         outcome_fragment(*job.demo, fmt::format("<img class=picture src=\"/picture.svg?{}\" "
                                                 "alt=\"What owners have in four ways, and what "
                                                 "each gains; the table below has the numbers\">",
                                                 escaped(job.query)));
}

std::string demo_job_page(const DemoJob& job, std::string_view person_token) {
  return web_page("The job", person_token,
                  "<div data-live=\"/job/live\">" + demo_job_live(job) + "</div>\n");
}

}  // namespace parley::report
