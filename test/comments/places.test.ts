/** The place of a pin after the page was rebuilt. */
import { describe, expect, test, vi } from 'vitest';
import { sized } from '#test/campaigns/size.ts';
import {
  bakery,
  comment,
  openReview,
  phone,
  pointAt,
  pressUntil,
  type Review,
  send,
  soon,
  startComment,
  useReviews,
} from './review-fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const fixture = await useReviews();
const rounds = sized({ one: 40, short: 300, long: 3000 });

/** Whether the pin stands on what the selector means. */
async function isOn({ page }: Review, selector: string): Promise<boolean> {
  const [pin, box] = [await page.locator('.pin').boundingBox(), await page.locator(selector).boundingBox()];
  if (!pin || !box) return false;
  const [x, y] = [pin.x + pin.width / 2, pin.y + pin.height / 2];
  return x >= box.x - 2 && x <= box.x + box.width + 2 && y >= box.y - 2 && y <= box.y + box.height + 2;
}

const moved = bakery({ before: '<h2>News</h2><p>We are closed on Monday.</p><section><h2>Prices</h2></section>' });

describe('after a rebuild', { tags: 'chromium' }, () => {
  test('the pin follows its heading, or the list says that it is gone', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext();
    const review = await openReview(context, await site.link());
    const { page, frame } = review;
    await comment(review, 'This one', () => pointAt(page, 'h2 >> nth=0'));
    expect(await isOn(review, 'h2 >> nth=0')).toBe(true);
    const rebuild = async (next: string) => {
      await site.rebuild({ 'index.html': next });
      await page.reload();
      const exit = frame.getByRole('button', { name: 'Exit review' });
      await frame.getByText('1 open').or(exit).first().waitFor();
      if (!(await exit.isVisible())) await pressUntil(frame.getByText('1 open'), exit);
    };

    await rebuild(moved);
    const heading = 'h2:text-is("What we bake")';
    await soon(() => isOn(review, heading)).toBe(true);
    expect(await isOn(review, 'h2 >> nth=0')).toBe(false);
    // And it stays there while the page changes under it.
    await page.evaluate(`document.querySelector('h1').insertAdjacentHTML('beforebegin', '<p>More</p>'.repeat(5))`);
    await soon(() => isOn(review, heading)).toBe(true);

    const elsewhere = '<section><h3>What we bake</h3></section></main>';
    await rebuild(bakery().replace('<h2>What we bake</h2>', '').replace('</main>', elsewhere));
    await soon(() => isOn(review, 'h3')).toBe(true);

    await rebuild(bakery().replace('What we bake', 'Our breads'));
    await frame.getByText('The text here has changed since the comment was made.').waitFor();
    await soon(() => isOn(review, 'h2:text-is("Our breads")')).toBe(true);

    await rebuild('<!doctype html><html><head><title>T</title></head><body><p>Soon.</p></body></html>');
    await frame.getByText('This part of the page no longer exists.').waitFor();
    expect(await page.locator('.pin:visible').count()).toBe(0);
    await context.close();
  });

  test('an element’s words are what a reader sees, with line breaks as spaces', async () => {
    const site = await fixture.newSite({
      'index.html': bakery({ before: '<h2>Good wood,<br>cut to fit</h2><ul><li>As<b>h</b></li><li>Oak</li></ul>' }),
    });
    const context = await fixture.newContext();
    const { page } = await openReview(context, await site.link());
    const said = await page.evaluate(`import('/.frontage/overlay/place.js').then(({ words }) =>
      ['h2', 'ul'].map((name) => words(document.querySelector('main ' + name))))`);
    expect(said).toEqual(['Good wood, cut to fit', 'Ash Oak']);
    await context.close();
  });

  test('on random pages each element is found by its description or words', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext();
    const { page } = await openReview(context, await site.link());
    const faults = await page.evaluate(`(async () => {
      const { describe, find } = await import('/.frontage/overlay/place.js');
      let seed = 7;
      const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
      const faults = [];
      for (let round = 0; round < ${rounds}; round++) {
        let count = 0;
        const grow = (parent, depth) => {
          for (let n = random(5) + 1; n > 0; n--) {
            const leaf = depth === 0 || random(3) === 0;
            const name = leaf ? ['p', 'h2', 'li', 'a'][random(4)] : ['section', 'div', 'ul', 'article'][random(4)];
            const child = parent.appendChild(document.createElement(name));
            if (random(9) === 0) child.id = ['top', '1st', 'a b', 'x"y', 'é'][random(5)];
            if (leaf) child.textContent = 'Words ' + round + ' of number ' + count++;
            else grow(child, depth - 1);
          }
        };
        const root = document.createElement('main');
        document.body.replaceChildren(root);
        grow(root, 3);
        const leaves = [...root.querySelectorAll('*')].filter((one) => one.children.length === 0);
        const places = leaves.map((one) => describe(one));
        for (const [at, place] of places.entries()) {
          const found = find(place);
          if (found?.element !== leaves[at] || found.how !== 'selector') faults.push(['same', round, place.selector]);
        }
        for (const parent of [root, ...root.querySelectorAll('*')]) parent.append(...[...parent.children].reverse());
        for (const [at, place] of places.entries()) {
          if (find(place)?.element !== leaves[at]) faults.push(['turned', round, place.selector]);
        }
        const [first] = leaves;
        first.remove();
        const left = find({ ...places[0], selector: 'main > nothing' });
        if (left) faults.push(['gone', round, left.element.outerHTML]);
      }
      return faults.slice(0, 5);
    })()`);
    expect(faults).toEqual([]);
    await context.close();
  });
});

test('on a phone, the place stays in view above the panel', { tags: 'chromium' }, async () => {
  const site = await fixture.newSite();
  const context = await fixture.newContext(phone);
  const review = await openReview(context, await site.link());
  const { page, frame } = review;
  const last = page.getByText('Harbour Street 1.');
  const height = await page.evaluate('document.documentElement.scrollHeight');
  /** Whether all of the paragraph is above the panel. */
  const isSeen = async () => {
    const [box, panel] = [await last.boundingBox(), await page.locator('frontage-overlay >> iframe').boundingBox()];
    return box !== null && panel !== null && panel.width === 390 && box.y >= 0 && box.y + box.height <= panel.y;
  };
  await startComment(review, 'tap');
  await last.scrollIntoViewIfNeeded();
  const box = await last.boundingBox();
  await page.touchscreen.tap((box?.x ?? 0) + 30, (box?.y ?? 0) + 10);
  await soon(isSeen).toBe(true);
  await frame.getByLabel('What should change here?').fill('Which number?');
  await send(review, 'Which number?', 'tap');
  await frame.getByRole('button', { name: '← All' }).tap();
  await page.evaluate('scrollTo(0, 0)');
  expect(await isSeen()).toBe(false);
  await frame.locator('#threads').getByText('Which number?').tap();
  await soon(isSeen).toBe(true);
  await frame.getByRole('button', { name: 'Minimise' }).tap();
  await soon(() => page.evaluate('document.documentElement.scrollHeight')).toBe(height);
  await context.close();
});
