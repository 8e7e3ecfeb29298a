#include "parley/forecast/trained_rows.h"

#include "parley/forecast/columns.h"
#include "parley/learn/federated/shrink.h"

namespace parley::forecast {

SharedRows as_trained(const charter::Charter& charter, const SharedRows& rows) {
  if (columns_apart(charter)) return shortened_parts(charter, *rows);
  if (charter.protocol.name != charter::ProtocolName::kFederated) return rows;
  return std::get<SharedRows>(learn::shrunk(data::AnyRows(rows), charter.privacy.max_row_norm));
}

std::vector<SharedRows> as_trained(const charter::Charter& charter,
                                   const std::vector<SharedRows>& many) {
  std::vector<SharedRows> found;
  for (const SharedRows& rows : many) found.push_back(as_trained(charter, rows));
  return found;
}

}  // namespace parley::forecast
