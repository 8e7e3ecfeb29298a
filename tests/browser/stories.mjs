// What people do on the pages, in Chromium: stories.mjs LINKS PROCESSES OUT, where LINKS is JSON of
// names and one-time links, and PROCESSES of names and process ids. Exits with 1 if something that must hold does not.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.env.PARLEY_NODE, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const links = JSON.parse(process.argv[2]), processes = JSON.parse(process.argv[3]), out = process.argv[4];
let failed = 0;

function must(holds, what) {
  console.log(`${holds ? 'holds' : 'DOES NOT HOLD'}: ${what}`);
  if (!holds) failed = 1;
}

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--no-first-run'],
});

/** A page that is signed in, and complains about anything the browser refused. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.refused = [];
  page.on('console', message => { if (message.type() === 'error') page.refused.push(message.text()); });
  page.on('request', request => {
    if (!request.url().startsWith(new URL(links[name]).origin)) page.refused.push(request.url());
  });
  await page.goto(links[name]);
  return page;
}

async function look(page, name) {
  // What is far below is drawn when somebody comes near it; pictures and axe-core shall see it too.
  const draw = how => page.evaluate(value => {
    for (const part of document.querySelectorAll('#result > *')) part.style.contentVisibility = value;
  }, how);
  await draw('visible');
  for (const [width, scheme] of [[360, 'light'], [1280, 'light'], [1280, 'dark'], [2200, 'light']]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    must(wide <= width, `${name}: nothing sticks out at ${width} px (${wide})`);
    await page.screenshot({ path: join(out, `${name}-${width}-${scheme}.png`), fullPage: width < 2000 });
  }
  await page.setViewportSize({ width: 718, height: 1047 });  // A4 within margins of 1 cm
  await page.emulateMedia({ media: 'print', colorScheme: 'light' });
  await page.screenshot({ path: join(out, `${name}-print.png`), fullPage: true });
  const [sheet, controls] = await page.evaluate(() => [document.documentElement.scrollWidth,
    [...document.querySelectorAll('button, input:not([type=hidden]), nav, aside')].filter(each => each.getClientRects().length).length]);
  must(sheet <= 718 && controls === 0, `${name}: in print nothing is cut off (${sheet} of 718) and no control is left (${controls})`);
  await page.emulateMedia({ media: 'screen', forcedColors: 'active' });
  await page.screenshot({ path: join(out, `${name}-forced-colors.png`), fullPage: true });
  await page.emulateMedia({ forcedColors: 'none' });
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    // Playwright's own world: the page's policy forbids scripts that are not its own, as it should.
    const found = await page.evaluate(`${axe}; axe.run()`);
    for (const each of found.violations)
      console.log(`  ${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')}`);
    must(found.violations.length === 0, `${name}, ${scheme}: axe-core finds nothing (${found.violations.length})`);
  }
  await draw('');
  const bytes = await page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(each => !/[/](live|standing|figures|result)\b/.test(each.name)).reduce((sum, each) => sum + each.decodedBodySize, 0));
  must(bytes < 150000, `${name}: page with all that it loads below 150 kB (${Math.round(bytes / 1000)} kB)`);
  await paints(page, name);
  must(page.refused.length === 0, `${name}: the browser refused nothing (${page.refused.join('; ')})`);
}

/** First paint within half a second; on a busy machine one of five loads may be the one that counts. */
async function paints(page, name) {
  const times = [];
  for (let k = 0; k < 5; ++k) {
    times.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
    if (times[k] < 500 || name === 'stale') break;  // That one answers a form.
    await page.reload();
  }
  console.log(`${name}: first paint after ${times.map(each => Math.round(each)).join(', ')} ms (load ${loadavg()[0].toFixed(1)})`);
  must(times.some(each => each < 500), `${name}: first paint within 500 ms`);
}

/** For the documentation: what is seen first, small enough for a page of text. */
async function picture(page, name, width = 960, height = 640) {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.screenshot({ path: join(out, 'pictures', `${name}.png`) });
}

/** Processor time of a page's program so far, in ms; Linux counts in hundredths of a second. */
function processor(name) {
  const fields = readFileSync(`/proc/${processes[name]}/stat`, 'utf8').split(') ')[1].split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** From a slider's move until the new picture is painted, in ms, by the page's own clock. */
function redraw(page, field) {
  return page.evaluate(field => new Promise(done => {
    const slider = document.querySelector(`input[name=${field}] + .slider`), result = document.getElementById('result');
    const begin = performance.now();
    new MutationObserver((_, observer) => {
      if (result.classList.contains('busy')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
    }).observe(result, { attributes: true, attributeFilter: ['class'] });
    slider.value = Number(slider.value) + 0.01;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }), field);
}

/** Wall time depends on who else uses the machine; processor time does not, and is what must hold. */
async function redraws(page, name, field, most) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const browsers = async () =>
    1000 * (await devtools.send('Performance.getMetrics')).metrics.find(each => each.name === 'TaskDuration').value;
  const server = processor(name), drawing = await browsers(), medians = [];
  let moved = 0;
  do {
    const times = [];
    for (let k = 0; k < 8; ++k, ++moved) times.push(await redraw(page, field));
    times.sort((a, b) => a - b);
    medians.push(times[4]);
    console.log(`redraw of ${name} owners: median of 8 ${Math.round(times[4])} ms, longest ${Math.round(times[7])} ms (load ${loadavg()[0].toFixed(1)})`);
  } while (medians.at(-1) >= most && medians.length < 5);
  const ours = (processor(name) - server) / moved, theirs = (await browsers() - drawing) / moved;
  must(Math.min(...medians) < most, `explore-${name}: a redraw takes less than ${most} ms, median of 8, in one of five tries`);
  must(ours + theirs < most, `explore-${name}: a redraw takes less than ${most} ms of processor time `
    + `(program ${Math.round(ours)}, browser ${Math.round(theirs)})`);
}

async function explore(name, field, most) {
  const page = await open(name);
  await look(page, `explore-${name}`);
  await redraws(page, name, field, most);
  await page.locator(`input[name=${field}] + .slider`).focus();
  const answered = page.waitForResponse(response => response.url().includes('/result?'));
  await page.keyboard.press('ArrowRight');
  await answered;
  await page.waitForFunction(() => !document.querySelector('#result.busy'));
  const origin = new URL(page.url()).origin;
  const again = await page.context().newPage();
  await again.goto(page.url());
  must(await again.locator('#result dl').first().innerText() === await page.locator('#result dl').first().innerText(),
    `explore-${name}: the address holds the state`);
  must(page.url().startsWith(origin + '/?'), `explore-${name}: the slider moved the address`);
  await again.goto(new URL('/sentences' + new URL(page.url()).search, origin).href);
  again.refused = [];
  await look(again, `sentences-${name}`);
  await page.fill(`input[name=${field}]`, 'much');
  await page.locator('[role=alert]').waitFor();
  must(true, `explore-${name}: a wrong number is explained`);
}

async function approve(owner) {
  const page = await open(owner);
  await page.locator('text=It waits for a person').waitFor();
  if (owner === 'bank-a') { await look(page, 'console'); await picture(page, 'console'); }
  await page.locator('.card h3 a').first().click();
  if (owner === 'bank-a') {
    await look(page, 'charter');
    await picture(page, 'charter', 960, 760);
    await page.click('text=What it would bring on our own rows');
    await page.locator('pre.columns').waitFor({ timeout: 120000 });
    await look(page, 'value');
    await page.goBack();
  }
  const stale = await page.context().newPage();
  await stale.goto(page.url());
  const form = page.locator('form:has(input[value=approve])');
  await form.locator('input[name=reason]').fill('read on the page');
  await form.locator('button').dblclick();
  await page.locator('text=approved by').first().waitFor();
  await stale.locator('form:has(input[value=approve]) button').click();
  must((await stale.locator('h1').innerText()) === 'Nothing was done', `${owner}: a stale page is refused`);
  if (owner === 'bank-a') { stale.refused = []; await look(stale, 'stale'); }
  return page;
}

/** Forecast, slide, train, watch, outcome beside forecast. */
async function demo() {
  const page = await open('demo');
  await look(page, 'demo');
  const answered = page.waitForResponse(response => response.url().includes('/result?'));
  await page.locator('input[name=all] + .slider').focus();
  await page.keyboard.press('ArrowRight');
  await answered;
  await page.waitForFunction(() => !document.querySelector('#result.busy'));
  await picture(page, 'explorer', 1100, 640);
  await page.click('text=Train with these');
  await page.locator('text=The owners train').waitFor();
  await look(page, 'demo-trains');
  await page.locator('text=What was forecast, and what came out').waitFor({ timeout: 300000 });
  must(await page.locator('img.picture').evaluate(each => each.decode().then(() => each.naturalWidth > 0)),
    'demo: the outcome is beside the forecast, with its picture');
  await look(page, 'demo-outcome');
  await picture(page, 'demo-outcome', 960, 640);
  await page.context().close();
}

/** By Tab alone, as far as what is looked for. */
async function tab_to(page, place) {
  for (let k = 0; k < 60; ++k) {
    if (await place.evaluate(each => each === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  must(false, 'Tab reaches what is looked for');
}

/** A no with its reason, which run.py looks for in the learner's log; by keyboard alone. */
async function refuse() {
  const page = await open('refuser');
  await tab_to(page, page.locator('.card h3 a').first());
  await page.keyboard.press('Enter');
  await page.waitForURL('**/charter?*');
  await tab_to(page, page.locator('form:has(input[value=refuse]) input[name=reason]'));
  await page.keyboard.type('not what we are for');
  await page.keyboard.press('Tab');
  must(await page.locator('form:has(input[value=refuse]) button').evaluate(each => each === document.activeElement),
    'after the reason Tab comes to its button');
  await page.keyboard.press('Enter');
  await page.locator('text=refused by').first().waitFor();
  must(true, 'a charter was refused with a reason, by keyboard');
  await look(page, 'refused');
  await page.context().close();
}

/** What is shown is not taken for today's when its program fails, hangs or is gone. */
async function lost() {
  const page = await open('lost');
  const note = page.locator('[role=alert]');
  must(!await note.isVisible(), 'a page that is up to date has no alarm');
  await page.route('**/live', route => route.fulfill({ status: 500, contentType: 'text/html',
    body: '<main><h1>The policy</h1> cannot be read</main>' }));
  await page.locator('text=/Not up to date since .*: The policy cannot be read/').waitFor({ timeout: 15000 });
  await page.unroute('**/live');
  await note.waitFor({ state: 'hidden', timeout: 15000 });
  process.kill(processes.lost, 'SIGSTOP');
  await page.locator('text=/Not up to date since .*: the program behind this page does not answer/').waitFor({ timeout: 60000 });
  must(true, 'a page says that its program fails or hangs, since when, and that it is back');
  process.kill(processes.lost, 'SIGCONT');
  await note.waitFor({ state: 'hidden', timeout: 30000 });
  process.kill(processes.lost, 'SIGKILL');
  await note.waitFor({ timeout: 15000 });
  await page.screenshot({ path: join(out, 'lost.png') });
  must(true, 'a page says that its program is gone');
  await page.context().close();
}

/** The gauge of a budget without colours: what is reserved has stripes, what is left is empty. */
async function gauge(page) {
  await page.locator('.gauge .stripes').first().waitFor({ state: 'attached' });
  await page.emulateMedia({ forcedColors: 'active' });
  const fills = await page.evaluate(() => ['spent', 'left'].map(part => getComputedStyle(document.querySelector(`.gauge .${part}`)).fill));
  must(fills[0] !== fills[1], `the gauge can be read with forced colours (${fills})`);
  await page.emulateMedia({ forcedColors: 'none' });
}

/** The browser is closed, opened again, and shows the page without a new link. */
async function reopened(page) {
  const address = page.url(), state = await page.context().storageState();
  await page.context().close();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, storageState: state });
  const again = await context.newPage();
  again.refused = [];
  const answer = await again.goto(address);
  must(answer.status() === 200, 'a browser that was closed and opened again shows the page');
  return again;
}

/** Whether the overview's bar has moved by itself. */
async function moves(page) {
  const value = () => page.locator('progress').first().evaluate(each => each.value);
  await page.locator('text=are left at this pace').waitFor({ timeout: 60000 });
  const first = await value();
  await page.waitForFunction(first => (document.querySelector('progress')?.value ?? 0) > first, first, { timeout: 30000 });
  must(true, 'progress moves by itself, with bytes and the time left');
}

const pages = {};
await explore('3', 'e0', 100);
await explore('100', 'all', 400);
await demo();
await refuse();
await lost();
const job = await open('job');
await job.locator('text=There is no model yet').waitFor();
await job.locator('td:text-is("away")').nth(2).waitFor({ timeout: 60000 });  // Nobody has approved.
await look(job, 'job');
for (const owner of ['bank-a', 'bank-b', 'bank-c']) pages[owner] = await approve(owner);
const page = await reopened(pages['bank-a']);
await page.goto(new URL('/', page.url()).href);
await moves(page);
await gauge(page);
await look(page, 'console-runs');
await picture(page, 'console-runs');
await look(job, 'job-runs');
await picture(job, 'consortium');
await page.locator('text=All answers were given').waitFor({ timeout: 120000 });
must(true, 'the overview followed the job to its end by itself');
await job.locator('text=It holds').waitFor({ timeout: 60000 });
must(true, "the learner's page followed the job to its end, and verified it");
await look(job, 'job-after');
await look(page, 'console-after');
await page.click('text=What has left');
await look(page, 'left');
await page.click('text=The policy');
await look(page, 'policy');
await page.click('text=Leave');
must((await page.goto(new URL('/', page.url()).href)).status() === 401, 'after leaving, the page is shut');
page.refused = [];  // The browser reports the 401.
await look(page, 'door');
await browser.close();
process.exit(failed);
