// toml++, of which Debian has no archive.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
