// What all pages in a browser share: frame, style and the one script. Everything is served from
// here and nothing is inline, so the content security policy allows the browser to run nothing
// else.
#pragma once

#include <string>
#include <string_view>

namespace parley::report {

/// `body` is HTML. `token` is what every form carries; with it comes the button to leave.
std::string web_page(std::string_view title, std::string_view token, std::string_view body);
/// A title and a sentence, for those who cannot come in.
std::string web_notice(const std::string& title, const std::string& sentence);

std::string web_style();   // /style.css
std::string web_script();  // /page.js

/// A hidden field with the session's token.
std::string token_field(std::string_view token);

/// For a link: everything but letters, digits and -._~ becomes %XX.
std::string url_escaped(std::string_view text);

}  // namespace parley::report
