#include "parley/report/page/web.h"

#include <fmt/format.h>

#include "parley/report/page/html.h"

namespace parley::report {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1d21;--soft:#5b6470;--line:#d9dde3;--back:#fff;--panel:#f5f6f8;
--accent:#04568c;--on-accent:#fff;--warn:#fff5e9;--warn-edge:#b45309;--bar:#04568c;--bar2:#9a5b00}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a9b2bf;--line:#363d47;--back:#15181d;
--panel:#1d2128;--accent:#7cc1f0;--on-accent:#10202c;--warn:#2b2217;--warn-edge:#f0a450;--bar:#4da3dc;--bar2:#e0a64e}polyline{filter:brightness(1.9)}rect[opacity]{opacity:.8}}
*{box-sizing:border-box}
body{margin:0;overflow-wrap:break-word;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back)}
.bar{display:flex;gap:1rem;align-items:center;justify-content:space-between;flex-wrap:wrap;
padding:.6rem 1.2rem;border-bottom:1px solid var(--line);background:var(--panel)}
.bar strong{letter-spacing:.02em}.bar nav{display:flex;gap:1rem;flex-wrap:wrap}
main{max-width:96rem;margin:0 auto;padding:1rem 1.2rem 3rem}
h1{overflow-wrap:anywhere;font-size:1.5rem;line-height:1.25;margin:.6rem 0 .2rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
aside h2:first-of-type{margin-top:0}
h3{font-size:1rem;margin:1.2rem 0 .3rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
dt{font-weight:600;margin-top:.8rem}dd{margin:0}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .5rem;text-align:right;border-bottom:1px solid var(--line)}
td{white-space:nowrap}th{font-weight:600}th:first-child,td:first-child{text-align:left}
td.words{text-align:left;white-space:normal}.names td{white-space:normal}
.wide{overflow-x:auto;background:linear-gradient(90deg,var(--back) 40%,transparent) 0/2rem local,
linear-gradient(270deg,var(--back) 40%,transparent) 100% 0/2rem local,linear-gradient(90deg,var(--line),transparent) 0/.7rem scroll,
linear-gradient(270deg,var(--line),transparent) 100% 0/.7rem scroll,var(--back);background-repeat:no-repeat}
progress{width:100%;height:1.1rem;accent-color:var(--bar)}
.quiet{color:var(--soft);font-size:.9rem}
.warn{border-left:4px solid var(--warn-edge);padding:.4rem .8rem;margin:.5rem 0;background:var(--warn)}
svg{max-width:100%;height:auto}svg text{fill:currentColor}svg line{stroke:var(--line)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;background:var(--panel);padding:.8rem 1rem;border-radius:.4rem}
code,.hash{font-family:ui-monospace,monospace;font-size:.85em;overflow-wrap:anywhere}
label{display:block;margin:.7rem 0 .2rem;font-weight:600;font-size:.9rem}
label input:not([type=range]),label select,label textarea{display:block;width:100%;margin-top:.2rem}
input,select,textarea,button{font:inherit;font-weight:400;color:inherit}
input:not([type=range]):not([type=checkbox]),select,textarea{padding:.35rem .5rem;border:1px solid var(--soft);
border-radius:.35rem;background:var(--back);min-width:0;font-variant-numeric:tabular-nums}
button,.button{display:inline-block;padding:.45rem 1rem;border:1px solid var(--accent);border-radius:.35rem;
background:var(--accent);color:var(--on-accent);text-decoration:none;font-weight:600;cursor:pointer}
button:disabled{opacity:.5;cursor:default}button.plain{background:none;color:var(--accent)}
button.stop{background:var(--back);color:var(--ink);border-color:var(--warn-edge)}
.act{display:flex;gap:1rem;align-items:center;flex-wrap:wrap}
.explorer{display:grid;gap:2rem;grid-template-columns:minmax(0,1fr)}
aside{background:var(--panel);border-radius:.5rem;padding:1rem;min-width:0}
.owners{max-height:24rem;overflow:auto;margin:.5rem 0}
.owners th,.owners td{text-align:left;vertical-align:top;padding:.3rem .35rem}.owners th{white-space:nowrap}
.pair{display:flex;flex-direction:column;gap:.15rem}.pair input{width:100%;min-width:3.5rem}
.pair input[type=range]{accent-color:var(--accent);margin:0}
#result{min-width:0}#result.busy{opacity:.6}#result td{white-space:normal}#result .wide td:first-child{white-space:nowrap}
#result>*{content-visibility:auto;contain-intrinsic-size:auto 20rem}#result>:is(h1,h2,p,dl){content-visibility:visible}
@media(min-width:64rem){.explorer{grid-template-columns:24rem minmax(0,1fr)}
.explorer aside{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}}
.card{border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.2rem;margin:1rem 0}
.card h2,.card h3{margin-top:0}.picture{width:100%;max-width:62rem;height:auto}
.ledger th,.ledger td{text-align:left}.ledger td:nth-child(8){white-space:normal;min-width:12rem}.ledger td:last-child{font-family:ui-monospace,monospace}
.gauge{display:block;width:100%;height:1.1rem;border:1px solid var(--soft)}.gauge .spent{fill:var(--bar)}.gauge .reserved{fill:var(--bar2)}.gauge .left{fill:var(--panel)}
.gauge .stripes{stroke:var(--back);stroke-width:2px;vector-effect:non-scaling-stroke}
@media(forced-colors:active){.gauge{forced-color-adjust:none}.gauge .spent,.gauge .reserved{fill:CanvasText}.gauge .left{fill:Canvas}.gauge .stripes{stroke:Canvas}}
pre.columns{font:.85rem/1.4 ui-monospace,monospace;white-space:pre;overflow-x:auto}
@media print{.wide{background:none}#result>*{content-visibility:visible}.explorer{display:block}.bar,nav,aside,.act,form{display:none}body{background:#fff;color:#000;font-size:13px}main{max-width:none;padding:0}
.card,section,tr,svg{break-inside:avoid}h2,h3{break-after:avoid}.owners,.wide{max-height:none;overflow:visible}
td,th,#result .wide td:first-child{white-space:normal;overflow-wrap:anywhere}.ledger{font-size:9px}pre.columns{font-size:9px;overflow:visible}}
)css";

// One request at a time, and the latest state wins: what a slider passed on its way is not asked.
constexpr const char* kScript = R"js('use strict';
const form = document.getElementById('state'), result = document.getElementById('result');
if (form && result) {
  let busy = false, again = false;
  const query = () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== '') fields.append(name, value);
    return fields.toString();
  };
  const redraw = async () => {
    if (busy) { again = true; return; }
    busy = true;
    result.classList.add('busy');
    const state = query();
    try {
      const answer = await fetch('/result?' + state, {credentials: 'same-origin'});
      if (answer.status === 401) { location.reload(); return; }
      const open = [...result.querySelectorAll('details')].map(each => each.open);
      result.innerHTML = await answer.text();
      result.querySelectorAll('details').forEach((each, i) => { each.open = open[i] || false; });
      history.replaceState(null, '', '/?' + state);
    } catch (error) {
      result.replaceChildren(Object.assign(document.createElement('p'),
        {className: 'warn', textContent: 'The page has lost its program. Is it still running in the terminal?'}));
    }
    result.classList.remove('busy');
    busy = false;
    if (again) { again = false; redraw(); }
  };
  const digits = value => String(Number(value.toPrecision(3)));
  for (const field of form.querySelectorAll('.pair input')) {
    const rows = field.name.startsWith('n'), slider = document.createElement('input');
    const [min, max] = (field.dataset.ends ?? (rows ? '1 7' : '-2 2')).split(' ').map(Number);
    Object.assign(slider, {type: 'range', className: 'slider', min, max, step: 0.01, value: (min + max) / 2});
    slider.setAttribute('aria-label', field.getAttribute('aria-label') + ', slider');
    field.inputMode = 'decimal';
    field.after(slider);
    const follow = () => { if (Number(field.value) > 0) slider.value = Math.log10(Number(field.value)); };
    follow();
    slider.addEventListener('input', () => {
      const value = Math.pow(10, Number(slider.value));
      field.value = rows ? String(Math.round(Number(digits(value)))) : digits(value);
      redraw();
    });
    field.addEventListener('input', follow);
  }
  form.addEventListener('input', event => { if (!event.target.classList.contains('slider')) redraw(); });
  form.addEventListener('submit', event => { event.preventDefault(); redraw(); });
}
// A second click says nothing twice; a page that comes back can be used again.
const enable = able => document.querySelectorAll('form[method=post] button').forEach(each => { each.disabled = !able; });
document.addEventListener('submit', event => { if (!event.defaultPrevented && event.target.method === 'post') setTimeout(() => enable(false)); });
window.addEventListener('pageshow', () => enable(true));
const live = document.querySelector('[data-live]');
if (live) {
  let shown = '', done = false, missed = 0, since = new Date();
  // Somebody may decide by what is shown: if it is old, the page says so, and since when.
  const note = Object.assign(document.createElement('p'), {className: 'warn', hidden: true});
  note.setAttribute('role', 'alert');
  live.before(note);
  const missing = why => {
    if (++missed < 3) return;
    const text = `Not up to date since ${since.toLocaleTimeString()}: ${why}`;
    if (note.textContent !== text) note.textContent = text;
    note.hidden = false;
  };
  const words = page => (new DOMParser().parseFromString(page, 'text/html').querySelector('main')?.textContent ?? page).replace(/\s+/g, ' ').trim();
  // Reading an owner's records may take minutes; a page that is kept up to date does not.
  const patience = 'once' in live.dataset ? {} : {get signal() { return AbortSignal.timeout(5000); }};
  const follow = async () => {
    try {
      const answer = await fetch(live.dataset.live, {credentials: 'same-origin', ...patience});
      if (answer.status === 401) { location.reload(); return; }
      const text = await answer.text();
      if (answer.ok) {
        missed = 0;
        since = new Date();
        note.hidden = true;
        if (text !== shown) {
          const link = live.contains(document.activeElement) && document.activeElement.getAttribute('href');
          live.innerHTML = shown = text;
          done = 'once' in live.dataset;
          if (link) live.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
        }
      } else {
        missing(words(text));
      }
    } catch (error) {
      missing('the program behind this page does not answer. Is it still running?');
    }
    if (!done) setTimeout(follow, 1000);
  };
  setTimeout(follow, 'once' in live.dataset ? 0 : 1000);
}
)js";

std::string framed(std::string_view title, std::string_view bar, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<link rel=\"icon\" "
      "href=\"/icon.svg\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n<script "
      "src=\"/page.js\" defer></script></head>\n<body><header class=bar><strong>Parley</strong>{}"
      "</header>\n<main>\n{}</main></body>\n</html>\n",
      escaped(title), bar, body);
}

}  // namespace

std::string web_style() { return kStyle; }
std::string web_script() { return kScript; }

std::string token_field(std::string_view token) {
  return fmt::format("<input type=hidden name=token value=\"{}\">", escaped(token));
}

std::string web_page(std::string_view title, std::string_view token, std::string_view body) {
  const std::string leave =
      fmt::format("<form method=post action=\"/leave\">{}<button class=plain>Leave</button></form>",
                  token_field(token));
  return framed(title, leave, body);
}

std::string web_notice(const std::string& title, const std::string& sentence) {
  return framed(title, "",
                fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escaped(title), escaped(sentence)));
}

std::string url_escaped(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  std::string safe;
  for (const char c : text)
    if (kPlain.find(c) != std::string_view::npos)
      safe += c;
    else
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return safe;
}

}  // namespace parley::report
