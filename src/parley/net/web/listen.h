// The address on which a page listens: this machine only, unless a host name for access from
// elsewhere is given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/net/transport/socket.h"

namespace parley::net {

struct PageSocket {
  Socket socket{};
  std::string url{};        // without a slash at the end
  std::string unix_path{};  // of a Unix socket, to be removed at the end
};

/// At host:port or unix:PATH. An address beyond loopback needs one of `hosts`: whoever names it has
/// thought of the way there.
Result<PageSocket> listen_for_pages(const std::string& listen,
                                    const std::vector<std::string>& hosts);

/// Whether the Host header names this machine itself or one of `hosts`; the port may be a tunnel's.
/// Any other name is a stranger's that was made to lead here.
bool host_allowed(std::string_view header, const std::vector<std::string>& hosts);

}  // namespace parley::net
