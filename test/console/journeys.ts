/** How an owner goes through a journey: in which window and colours, and with what. */
import type { Locator, Page } from 'playwright-core';

/** Together: both widths, both schemes, forced colours, the keyboard alone, and no scripts. */
export const ways = [
  { name: '1280 px, light, keyboard alone', width: 1280, theme: 'light', forced: false, scripts: true, keyboard: true },
  {
    name: '390 px, dark, forced colours, no scripts',
    width: 390,
    theme: 'dark',
    forced: true,
    scripts: false,
    keyboard: false,
  },
] as const;
export type Way = (typeof ways)[number];

/** Whose people have no mouse. */
const keyboardOnly = new WeakSet<Page>();

/** The page, with what its person has. */
export function walk(page: Page, { keyboard }: Pick<Way, 'keyboard'>): Page {
  if (keyboard) keyboardOnly.add(page);
  return page;
}

export const press = (page: Page, name: string) => activate(page, page.getByRole('button', { name, exact: true }));
export const follow = (page: Page, name: string) => activate(page, page.getByRole('link', { name, exact: true }));
/** Follows a tab of a site, which a phone has behind the name of the current one. */
export async function followTab(page: Page, name: string): Promise<void> {
  const menu = page.locator('.tab-menu summary');
  if (await menu.isVisible()) await menu.click();
  await follow(page, name);
}
export const notice = async (page: Page) => (await page.getByRole('status').first().textContent()) ?? '';

/** Presses the first of them, and waits for the page that follows. */
export async function activate(page: Page, all: Locator): Promise<void> {
  if (keyboardOnly.has(page)) await tabTo(page, all.first());
  const moved = page.waitForEvent('framenavigated');
  await (keyboardOnly.has(page) ? page.keyboard.press('Enter') : all.first().click());
  await moved;
  await page.waitForLoadState();
}

/** Presses what leads to no other page, such as a download or a copy button. */
export async function pressInPlace(page: Page, there: Locator): Promise<void> {
  if (!keyboardOnly.has(page)) return there.click();
  await tabTo(page, there);
  await page.keyboard.press('Enter');
}

/** Types into a field, over what is there. */
export async function typeInto(page: Page, label: string | RegExp, text: string): Promise<void> {
  const field = page.getByLabel(label).first();
  if (!keyboardOnly.has(page)) return field.fill(text);
  await tabTo(page, field);
  await page.keyboard.press('ControlOrMeta+A');
  if (text === '') return page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

const tabsMax = 120;

async function tabTo(page: Page, there: Locator): Promise<void> {
  await there.waitFor();
  // Found once: to find an element by its role takes longer than a key.
  const found = await there.elementHandle();
  for (let tabs = 0; tabs < tabsMax; tabs++) {
    if (await found?.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${there}`);
}
