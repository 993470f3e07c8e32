/** Brings a page into the state in which it is drawn: everything is loaded, and what moves has come to its end. */
import type { OpenPage } from '#providers/browser/page.ts';
import { undefinedIfFault } from '#providers/browser/pipe.ts';

const expression = `(async () => {
  for (let y = 0; y < Math.min(document.documentElement.scrollHeight, 8000); y += innerHeight) {
    scrollTo({ top: y, behavior: 'instant' });
    await new Promise((drawn) => setTimeout(drawn, 30));
  }
  scrollTo({ top: 0, behavior: 'instant' });
  const pictures = [...document.images].filter(({ complete }) => !complete).slice(0, 100);
  const settled = Promise.all(pictures.map((one) => new Promise((done) => { one.onload = one.onerror = done; })));
  await Promise.race([settled, new Promise((late) => setTimeout(late, 1000))]);
  for (const one of document.getAnimations().slice(0, 1000)) {
    try { one.finish(); } catch { one.cancel(); }
  }
  return true;
})()`;

/** Scrolls through the page once, so that pictures that load late are there, and ends its animations. */
export async function showAll(page: OpenPage): Promise<void> {
  await page.evaluate(expression, 6_000).catch(undefinedIfFault);
}
