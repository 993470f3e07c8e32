import { afterAll, expect, test } from 'vitest';
import { scanningActivities } from '#activities/scanning.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { tarOf } from './archives.ts';
import { createFixture, createSite, errorOf, sha256 } from './fixture.ts';
import { sender } from './sending.ts';

const fixture = await createFixture({ FRONTAGE_RATE_SCALE: '1000' });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { begin, name, send, complete } = sender(owner);

test('concurrent manifests, files, completions and uploads of a site do not block each other', async () => {
  const site = await createSite(owner);
  const uploads = await Promise.all(Array.from({ length: 10 }, () => begin(site)));
  const content = 'a page';
  const part = (n: number) =>
    Array.from({ length: 300 }, (_, m) => ({
      path: `part-${n}/${m}.txt`,
      sha256: sha256(content),
      bytes: content.length,
    }));
  const calls = uploads.flatMap((upload, n) => [
    ...[0, 1, 2, 3].map((k) => name(upload, part(k))),
    ...[0, 1, 2].map(() => send(upload, sha256(content), content)),
    complete(upload),
    owner.call('POST', `/v1/sites/${site.id}/deployments`),
    name(upload, part(10 + n)),
  ]);
  const answers = await Promise.all(calls);
  const told = new Set(answers.map((answer) => (answer.status === 200 ? '200' : errorOf(answer).code)));
  const allowed = ['200', 'not_accepting_uploads', 'not_found', 'superseded', 'upload_incomplete', 'invalid_manifest'];
  expect([...told].filter((code) => !allowed.includes(code))).toEqual([]);
}, 60_000);

test('an archive and a completion of its version do not deadlock', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  const raw = await tarOf([{ name: 'index.html', content: 'a page' }]);
  const { sending } = await fixture.deps.em().transactional(async (tx) => {
    await lockSite(tx, site.id);
    const headers = { 'content-type': 'application/x-tar' };
    const sending = owner.call('POST', `/v1/deployments/${upload.id}/archive`, { raw, headers });
    await untilBlocked(fixture.deps);
    await tx.execute('select 1 from deployment where id = ? for update', [upload.id]);
    return { sending };
  });
  expect((await sending).status).toBe(200);
});

test('a scan that is given up and a later version do not deadlock', async () => {
  const site = await createSite(owner);
  const id = await fixture.publish(site.id, owner.accountId, { 'index.html': 'a page' });
  const { givingUp } = await fixture.deps.em().transactional(async (tx) => {
    await lockSite(tx, site.id);
    const givingUp = scanningActivities(fixture.deps).giveUpScan(id);
    await untilBlocked(fixture.deps);
    await tx.nativeUpdate(Deployment, { id }, { status: 'retired' });
    return { givingUp };
  });
  expect((await givingUp).flags).toBe(1);
});
