/** The accessibility checker axe-core, run in a page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** A rule of WCAG 2.2 that axe-core leaves out by default. */
const targetRule = 'target-size';
/** What another colour scheme may break. The other rules cost most of the time. */
const rulesOfSchemes = ['color-contrast', 'link-in-text-block'];
/** What was seen when all rules last held: content and width. */
const seen = new WeakMap<object, string>();
const visible = 'location.pathname + innerWidth + document.documentElement.outerHTML + document.body.innerText';

/**
 * One line for each element that breaks a rule, without transitions: halfway, the colours of a choice are none of the page's.
 * Where nothing but the scheme has changed since the last time, only the rules about colours run.
 * `frame`: of the page, to check in its place. `areTargetsMeasured`: also links and buttons that are too small or too close.
 */
export async function violationsOf(
  page: Page,
  frame: Pick<Page, 'evaluate'> = page,
  areTargetsMeasured = false,
): Promise<string[]> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  if (!(await page.evaluate(runsScripts))) return await violationsOfCopy(page, areTargetsMeasured);
  const state = `${areTargetsMeasured} ${await frame.evaluate(visible)}`;
  const isOtherScheme = seen.get(frame) === state;
  const rules = isOtherScheme
    ? { runOnly: rulesOfSchemes }
    : { rules: { [targetRule]: { enabled: areTargetsMeasured } } };
  if (!(await frame.evaluate(`'axe' in window`))) await frame.evaluate(source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
  const { violations }: AxeResults = await frame.evaluate(`axe.run(document, ${options})`);
  if (!isOtherScheme && violations.length === 0) seen.set(frame, state);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Whether scripts run: without them, the content of `noscript` is parsed. */
const runsScripts = `(() => {
  const box = document.createElement('div');
  box.innerHTML = '<noscript><i></i></noscript>';
  return !box.querySelector('i');
})()`;
const media = `['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query).matches)`;

/** The page in which a page without scripts is looked at, and what was copied into it. */
const copies = new WeakMap<Page, { copy: Page; content: string }>();

/** axe-core waits for timers, which do not run in a page without scripts: so it looks at the same HTML in another page. */
async function violationsOfCopy(page: Page, areTargetsMeasured: boolean): Promise<string[]> {
  const [isDark, isForced] = await page.evaluate<boolean[]>(media);
  const copied = copies.get(page) ?? { copy: await openCopy(page), content: '' };
  copies.set(page, copied);
  const { copy } = copied;
  await copy.setViewportSize(page.viewportSize() ?? { width: 1280, height: 900 });
  await copy.emulateMedia({
    colorScheme: isDark ? 'dark' : 'light',
    forcedColors: isForced ? 'active' : 'none',
  });
  const content = await page.content();
  if (copied.content !== content) await copy.setContent(content);
  copied.content = content;
  return await violationsOf(copy, copy, areTargetsMeasured);
}

/** A page that closes with this one. */
async function openCopy(page: Page): Promise<Page> {
  const copy = await page.context().browser()?.newPage();
  if (!copy) throw new Error('the page has no browser');
  page.once('close', () => copy.close().catch(() => {}));
  return copy;
}
