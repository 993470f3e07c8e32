/** The console as its links lead through it, for an owner with one of everything. */
import { newId } from '#runtime/ids.ts';
import { callWith } from '#test/api/fixture.ts';
import type { Browser, Shown } from '#test/people/browser.ts';
import { addVersion, addViews } from './fixture.ts';
import type { Pottery } from './pottery.ts';

type Business = Awaited<ReturnType<Pottery['newBusiness']>>;

/** A page's kind: its path without ids and numbers. */
export const kindOf = (path: string) => path.replace(/\?.*/, '').replaceAll(/[a-z]+_[0-9a-z]{20,}|\d+/g, '*');

/** The HTML pages of the account that links lead to from its first one, at most so many of each kind. */
export async function crawl(browser: Browser, most: number): Promise<Shown[]> {
  const kinds = new Map<string, number>();
  const left = ['/account'];
  const seen = new Set(left);
  const pages: Shown[] = [];
  for (let path = left.shift(); path !== undefined; path = left.shift()) {
    const page = await browser.open(path);
    if (!page.headers.get('content-type')?.startsWith('text/html')) continue;
    pages.push(page);
    for (const [, href = ''] of page.text.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)) {
      const { pathname, search } = new URL(href.replaceAll(/&(?:amp|#38);/g, '&'), `http://console.localhost${path}`);
      const [to, kind] = [pathname + search, kindOf(pathname)];
      // Sites of these tests have no repository to export.
      if (!pathname.startsWith('/account') || pathname.endsWith('/export') || seen.has(to)) continue;
      seen.add(to);
      if ((kinds.get(kind) ?? 0) >= most) continue;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      left.push(to);
    }
  }
  return pages;
}

/** Gives the business what else its people, agents and visitors can have or leave. */
export async function furnish(pottery: Pottery, { owner, site, collaborator }: Business): Promise<void> {
  await collaborator.call('POST', `/v1/sites/${site.id}/comments`, {
    body: { page: '/', body: 'Lighter, please', position: { quote: 'Bowls' } },
  });
  await addVersion(pottery, site.id, 'live');
  await addVersion(pottery, site.id, 'failed');
  await addViews(pottery, site.id, 'bowls');
  for (const kind of ['upload-links', 'review-links', 'calendar-feeds'])
    await owner.call('POST', `/v1/sites/${site.id}/${kind}`, { body: {} });
  const review = await owner.call('POST', `/v1/sites/${site.id}/review-links`, { body: {} });
  await callWith(pottery.url)('POST', '/review/threads', {
    body: { page: '/', body: 'Larger', position: {}, author_name: 'Ann' },
    headers: { 'x-review': review.body.url.split('/').at(-1) },
  });
  await owner.call('POST', `/v1/sites/${site.id}/git-credentials`, { body: { repository: 'source', access: 'read' } });
  const host = await pottery.newCaller();
  await pottery.invite(host, (await pottery.newSite(host)).id, await pottery.emailOf(owner));
  await askForAccess(pottery, owner);
}

/** A request for access, and a call that was refused. */
async function askForAccess(pottery: Pottery, owner: Business['owner']): Promise<void> {
  const asked = { email: await pottery.emailOf(owner), agent_name: 'Claude' };
  await callWith(pottery.url)('POST', '/v1/auth/requests', { body: asked });
  const em = pottery.deps.em();
  const now = pottery.clock.now();
  await em.execute(
    `insert into refused_call (id, token_id, account_id, operation, subject, summary, missing, hands_on, created_at, expires_at)
     select ?, id, account_id, 'payout.add', '/v1/payouts', 'Add a payout account', '{"payouts":true}', false, ?, ?::timestamptz + interval '1 day'
     from token where account_id = ? limit 1`,
    [newId('ask'), now, now, owner.accountId],
  );
  await em.execute(`update token set scope = scope || '{"payouts":false}' where account_id = ?`, [owner.accountId]);
}
