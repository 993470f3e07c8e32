/** A site whose own script attacks the overlay, with everything that a page can do. */
import { describe, expect, test, vi } from 'vitest';
import { bakery, comment, desk, openReview, pointAt, soon, startComment, useReviews } from './review-fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const fixture = await useReviews();

const words = 'Private words 4711';
const forged = 'Forged words 666';

/** Runs in the page from its first moment; what it gets hold of it keeps in `loot`. */
const attack = `
const base = 'http://platform.localhost';
const loot = (window.loot = []);
const keep = (what) => { try { loot.push(typeof what === 'string' ? what : JSON.stringify(what) ?? String(what)); } catch (error) { loot.push(String(error)); } };
const attempt = async (work) => { try { keep(await work()); } catch {} };
addEventListener('message', ({ data }) => keep(data));
for (const name of ['keydown', 'keypress', 'input', 'beforeinput', 'paste']) addEventListener(name, (event) => keep({ name, key: event.key, data: event.data }), true);
navigator.serviceWorker?.register('/sw.js').catch(() => {});
const opened = window.open;
window.open = (...given) => { keep(given); return opened.apply(window, given); };
const attached = Element.prototype.attachShadow;
Element.prototype.attachShadow = function () { return (window.root = attached.call(this, { mode: 'open' })); };
const posted = window.postMessage;
window.postMessage = (...given) => { keep(given); return posted.apply(window, given); };
const asked = window.fetch;
window.fetch = (...given) => { keep(String(given[0])); return asked.apply(window, given); };

async function strike() {
  const site = document.querySelector('script[data-frontage-frame]')?.dataset.frontageFrame.split('/').at(-1);
  keep({ cookie: document.cookie, local: { ...localStorage }, session: { ...sessionStorage }, opener: String(window.opener), referrer: document.referrer });
  for (const frame of [...Array(frames.length).keys()].map((at) => frames[at])) {
    for (const read of ['document', 'localStorage', 'location.href', 'name', 'state', 'fetch'])
      await attempt(() => read.split('.').reduce((from, name) => from[name], frame));
    const position = { selector: 'h1', quote: '${forged}', x: 1, y: 1 };
    for (const message of [
      { frontage: { type: 'picked', position, shot: 1, words: '${forged}', body: '${forged}' } },
      { frontage: { type: 'send', body: '${forged}' } },
      { frontage: { type: 'pins', list: [] } },
      { frontage: { type: 'constructor' } },
      { frontage: { type: '__proto__' } },
      { frontageReview: 'frr_' + '0'.repeat(43) },
    ]) frame.postMessage(message, '*');
  }
  const body = JSON.stringify({ page: '/', body: '${forged}', position: {} });
  for (const path of ['/review/threads', '/review/frame/' + site, '/review/frame/' + site + '?origin=' + origin, '/review/hand-over/' + site, '/v1/account', '/v1/sites', '/account']) {
    for (const mode of ['cors', 'no-cors']) {
      await attempt(() => asked(base + path, { credentials: 'include', mode }).then((answer) => answer.text()));
      await attempt(() => asked(base + path, { credentials: 'include', mode, method: 'POST', body, headers: { 'content-type': 'text/plain' } }).then((answer) => answer.text()));
      await attempt(() => asked(base + path, { credentials: 'include', mode, method: 'POST', body, headers: { 'content-type': 'application/json', 'x-review': 'x' } }).then((answer) => answer.text()));
    }
  }
  const again = document.body.appendChild(document.createElement('iframe'));
  again.name = 'again';
  again.src = base + '/review/hand-over/' + site;
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const form = document.body.appendChild(document.createElement('form'));
    Object.assign(form, { action: base + '/review/threads', method: 'post', enctype: type, target: 'again' });
    const field = form.appendChild(document.createElement('input'));
    Object.assign(field, { name: '{"page":"/","body":"${forged}","position":{},"x":"', value: '"}' });
    form.submit();
    form.remove();
  }
  const popup = opened.call(window, base + '/review/hand-over/' + site, 'theft');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await attempt(() => popup.document.body.innerHTML);
  popup?.close();
  const held = window.root?.querySelector?.('iframe') ?? document.querySelector('frontage-overlay')?.shadowRoot?.querySelector('iframe');
  await attempt(() => held.contentDocument.body.innerHTML);
  for (const type of ['click', 'keydown', 'pointerdown', 'submit']) held?.dispatchEvent(new Event(type, { bubbles: true }));
  held?.click();
  again.remove();
  loot.push('struck');
}
window.strike = strike;
`;
const worker = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
self.addEventListener('fetch', (event) => clients.matchAll({ includeUncontrolled: true }).then((all) => all.forEach((one) => one.postMessage('seen ' + event.request.url))));`;

const hostile = () => bakery().replace('<head>', `<head><script>${attack}</script>`);

describe('a site’s script', { tags: 'chromium' }, () => {
  test('reads no key or comment, and writes no comment as the owner', async () => {
    const site = await fixture.newSite({ 'index.html': hostile(), 'sw.js': worker });
    const context = await fixture.newContext(desk);
    const link = await site.link();
    const secret = link.split('/').at(-1) ?? '';
    const seen: string[] = [];
    context.on('page', (page) =>
      page.on('request', (request) => void (request.url().includes('hand-over') || seen.push(request.url()))),
    );
    // The second time its worker stands between the browser and the site.
    for (const round of [1, 2]) {
      const review = await openReview(context, link);
      await review.page.evaluate('strike()');
      await comment(review, `${words} ${round}`, () => pointAt(review.page, 'h2 >> nth=0'));
      await review.page.evaluate('strike()');
      await review.frame
        .getByRole('button', { name: '← All' })
        .or(review.frame.getByRole('button', { name: 'Discard' }))
        .click();
      const loot: string[] = await review.page.evaluate('loot');
      expect(loot.filter((what) => what === 'struck')).toHaveLength(2);
      expect(loot.filter((what) => what.includes('frr_') && !what.includes('0'.repeat(43)))).toEqual([]);
      for (const kept of [secret, words, site.token]) expect(loot.join('\n')).not.toContain(kept);
      await review.page.close();
    }
    expect(new Set(seen.filter((url) => url.includes(secret)))).toEqual(new Set([link]));
    const items: { messages: { body: string }[] }[] = (await site.list()).body.items;
    expect(items.map(({ messages }) => messages.map(({ body }) => body))).toEqual([[`${words} 2`], [`${words} 1`]]);
    await context.close();
  });

  test('of another site cannot embed this site’s frame', async () => {
    const [site, evil] = [await fixture.newSite(), await fixture.newSite()];
    const context = await fixture.newContext(desk);
    await (await openReview(context, await site.link())).page.close();
    const { page } = await openReview(context, await evil.link());
    const address = `http://platform.localhost/review/frame/${site.site.public_id}?origin=${site.address}`;
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${address}', name: 'stolen' }))`,
    );
    await soon(() => page.frame('stolen')?.url()).toMatch(/^chrome-error:/);
    await context.close();
  });

  test('cannot redirect a click to a hidden frame', async () => {
    const site = await fixture.newSite();
    const context = await fixture.newContext(desk);
    const { page, frame } = await openReview(context, await site.link());
    await startComment({ frame });
    await pointAt(page, 'h1');
    await frame.getByLabel('What should change here?').fill('Not yet');
    await frame.getByText('This screenshot will be sent with your comment.').waitFor();
    const send = await frame.getByRole('button', { name: 'Send' }).boundingBox();
    const press = () => page.mouse.click((send?.x ?? 0) + 20, (send?.y ?? 0) + 20);
    await page.evaluate(`document.querySelector('frontage-overlay').style.setProperty('opacity', '0.01', 'important')`);
    await frame.locator('body[data-covered=true]').waitFor();
    await soon(() => press().then(() => frame.getByText('Something on the page covers this window.').isVisible())).toBe(
      true,
    );
    expect((await site.list()).body.items).toEqual([]);
    await page.evaluate(`document.querySelector('frontage-overlay').style.removeProperty('opacity')`);
    await soon(async () => press().then(async () => (await site.list()).body.items.length)).toBe(1);
    await context.close();
  });
});
