/** Bytes of the store are reached through sites alone: naming a hash proves nothing. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith } from '#test/api/fixture.ts';
import { createFixture, createSite, errorOf, sha256 } from './fixture.ts';
import { named, sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const { name, publish } = sender(owner);
const other = sender(stranger);
let count = 0;
const unique = () => `<!doctype html><title>A page</title><p>page ${++count} of ${process.pid}`;
const refusal = (answer: Parameters<typeof errorOf>[0]) => [answer.status, errorOf(answer).code];

test('naming a hash gives no access to another account’s bytes', async () => {
  const secret = unique();
  await publish(await createSite(owner), { 'index.html': secret });
  await fixture.publish((await createSite(owner)).id, owner.accountId, { 'index.html': `${secret}!` });
  const site = await createSite(stranger);
  const upload = await other.begin(site);
  const files = { 'index.html': secret, 'b.html': `${secret}!` };
  const { body } = await other.name(upload, named(files));
  expect(body.missing).toHaveLength(2);
  expect(refusal(await other.complete(upload))).toEqual([409, 'upload_incomplete']);
  expect((await fixture.visit(site.name, '/')).status).toBe(404);
  // Whoever has them may send them.
  expect(await other.fill(await other.begin(site), files)).toBe(2);
});

test('a collaborator cannot reach the owner’s other sites through a shared one', async () => {
  const secret = unique();
  await publish(await createSite(owner), { 'index.html': secret });
  const site = await createSite(owner);
  await fixture.deps
    .em()
    .execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
      site.id,
      stranger.accountId,
      fixture.clock.now(),
    ]);
  const upload = await other.begin(site);
  expect((await other.name(upload, named({ 'index.html': secret }))).body.missing).toEqual([sha256(secret)]);
  expect((await name(upload, named({ 'b.html': secret }))).body.missing).toEqual([]);
});

test('a token limited to one site does not reach bytes of the others', async () => {
  const secret = unique();
  await publish(await createSite(owner), { 'index.html': secret });
  const site = await createSite(owner);
  const { accountId } = owner;
  const scope = { ...usualScope, sites: [site.id] };
  const { secret: token } = await issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'limited', scope });
  const limited = sender({ accountId, token, call: callWith(fixture.url, token) });
  const upload = await limited.begin(site);
  expect((await limited.name(upload, named({ 'index.html': secret }))).body.missing).toEqual([sha256(secret)]);
});
