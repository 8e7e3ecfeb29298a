// What people do on the pages, in Chromium: stories.mjs LINKS OUT, where LINKS is JSON of names and
// one-time links. Exits with 1 if something that must hold does not.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const require = createRequire(join(process.env.PARLEY_NODE, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const links = JSON.parse(process.argv[2]), out = process.argv[3];
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
  for (const [width, scheme] of [[360, 'light'], [1280, 'light'], [1280, 'dark'], [2200, 'light']]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    must(wide <= width, `${name}: nothing sticks out at ${width} px (${wide})`);
    await page.screenshot({ path: join(out, `${name}-${width}-${scheme}.png`), fullPage: width < 2000 });
  }
  await page.emulateMedia({ media: 'print', colorScheme: 'light' });
  await page.screenshot({ path: join(out, `${name}-print.png`), fullPage: true });
  await page.emulateMedia({ media: 'screen' });
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    // Playwright's own world: the page's policy forbids scripts that are not its own, as it should.
    const found = await page.evaluate(`${axe}; axe.run()`);
    for (const each of found.violations)
      console.log(`  ${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')}`);
    must(found.violations.length === 0, `${name}, ${scheme}: axe-core finds nothing (${found.violations.length})`);
  }
  const bytes = await page.evaluate(() => performance.getEntriesByType('navigation')[0].decodedBodySize);
  must(bytes < 150000, `${name}: page below 150 kB (${Math.round(bytes / 1000)} kB)`);
  must(page.refused.length === 0, `${name}: the browser refused nothing (${page.refused.join('; ')})`);
}

async function explore(name, field) {
  const page = await open(name);
  await look(page, `explore-${name}`);
  const times = [];
  const slider = page.locator(`input[name=${field}] + .slider`);
  await slider.focus();
  for (let k = 0; k < 8; ++k) {
    const answered = page.waitForResponse(response => response.url().includes('/result?'));
    const begin = Date.now();
    await page.keyboard.press('ArrowRight');
    await answered;
    await page.waitForFunction(() => !document.querySelector('#result.busy'));
    times.push(Date.now() - begin);
  }
  times.sort((a, b) => a - b);
  console.log(`redraw of ${name} owners, median of 8: ${times[4]} ms, longest ${times[7]} ms`);
  const origin = new URL(page.url()).origin;
  const again = await page.context().newPage();
  await again.goto(page.url());
  must(await again.locator('#result dl').first().innerText() === await page.locator('#result dl').first().innerText(),
    `explore-${name}: the address holds the state`);
  must(page.url().startsWith(origin + '/?'), `explore-${name}: the slider moved the address`);
  await page.fill(`input[name=${field}]`, 'much');
  await page.locator('[role=alert]').waitFor();
  must(true, `explore-${name}: a wrong number is explained`);
}

async function approve(owner) {
  const page = await open(owner);
  await page.locator('text=It waits for a person').waitFor();
  if (owner === 'bank-a') await look(page, 'console');
  await page.locator('.card h3 a').first().click();
  if (owner === 'bank-a') await look(page, 'charter');
  const stale = await page.context().newPage();
  await stale.goto(page.url());
  const form = page.locator('form:has(input[value=approve])');
  await form.locator('input[name=reason]').fill('read on the page');
  await form.locator('button').click();
  await page.locator('text=approved by').first().waitFor();
  await stale.locator('form:has(input[value=approve]) button').click();
  must((await stale.locator('h1').innerText()) === 'Nothing was done', `${owner}: a stale page is refused`);
  return page;
}

const pages = {};
await explore('3', 'e0');
await explore('100', 'all');
for (const owner of ['bank-a', 'bank-b', 'bank-c']) pages[owner] = await approve(owner);
const page = pages['bank-a'];
await page.goto(new URL('/', page.url()).href);
await page.locator('text=All answers were given').waitFor({ timeout: 120000 });
must(true, 'the overview followed the job to its end by itself');
await look(page, 'console-after');
await page.click('text=What has left');
await look(page, 'left');
await page.click('text=The policy');
await look(page, 'policy');
await page.click('text=Leave');
must((await page.goto(new URL('/', page.url()).href)).status() === 401, 'after leaving, the page is shut');
await browser.close();
process.exit(failed);
