// Authorities, keys and certificates that were made: what to do next with them, for people, and
// where they are, for programs.
#pragma once

#include <string>

#include "parley/credentials.h"

namespace parley::report {

struct Authority {
  std::string consortium;
  AuthorityOptions options;
  AuthorityMade made;
};

std::string to_text(const Authority& authority);
std::string to_json(const Authority& authority);  // parley.certs.init/1
std::string to_text(const Signed& made);
std::string to_json(const Signed& made);  // parley.certs.sign/1
std::string to_text(const Revoked& revoked);
std::string to_json(const Revoked& revoked);  // parley.certs.revoke/1
std::string to_text(const Renewal& renewal);
std::string to_json(const Renewal& renewal);  // parley.renew/1

/// A renewed certificate that is in use now.
struct Installed {
  std::string name;
  std::string until;
};
std::string to_text(const Installed& installed);
std::string to_json(const Installed& installed);  // parley.renew.installed/1

std::string to_text(const Joined& joined);
std::string to_json(const Joined& joined);  // parley.join.made/1

}  // namespace parley::report
