// Words of others, for logs and terminals. Whatever comes from a peer, a certificate, a charter or
// a file goes through one of these before a person sees it.
#pragma once

#include <string>
#include <string_view>

namespace parley {

/// One line of text that can neither move the cursor nor pretend to be another line: control
/// characters, what is not UTF-8, and characters that nobody sees or that turn the direction of
/// writing become escapes such as \u001b and \xff. Cut after so many bytes of `text`. What is
/// printable stays as it is.
std::string printable(std::string_view text, size_t longest = 500);

/// The same between quotes, and shorter: for a name, or another single word. Quotes and backslashes
/// in it are escaped, too.
std::string in_quotes(std::string_view text);

/// Our own text, which may have several lines and others' words in them: line by line.
std::string printable_lines(std::string_view text);

}  // namespace parley
