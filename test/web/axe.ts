/** The accessibility checker axe-core, run in a page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** With the rules of WCAG 2.2, of which axe-core leaves one out by default. */
const options = JSON.stringify({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } });

/**
 * One line for each element that breaks a rule, without transitions: halfway, the colours of a choice are none of the page's.
 * `frame`: of the page, to check in its place.
 */
export async function violationsOf(page: Page, frame: Pick<Page, 'evaluate'> = page): Promise<string[]> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const allowScripts = await scriptSwitch(page);
  await allowScripts(true);
  await frame.evaluate(source);
  const { violations }: AxeResults = await frame.evaluate(`axe.run(document, ${options})`);
  await allowScripts(false);
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

/** axe-core waits for timers, which do not run in a page without scripts. Its own scripts were left out when it was loaded. */
async function scriptSwitch(page: Page): Promise<(areAllowed: boolean) => Promise<void>> {
  if (await page.evaluate(runsScripts)) return async () => {};
  // Detaching it would allow scripts for good.
  const session = await page.context().newCDPSession(page);
  return async (areAllowed) =>
    void (await session.send('Emulation.setScriptExecutionDisabled', { value: !areAllowed }));
}
