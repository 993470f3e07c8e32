import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { goLive, takeTicket } from '#db/deployments/transitions.ts';
import { blobPath } from '#providers/store/disk.ts';
import { createFixture, createSite, errorOf, sha256, until } from './fixture.ts';
import { isStored, named, sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { begin, name, send, complete, fill, publish } = sender(owner);
const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;
let count = 0;
const unique = () => `<!doctype html><title>page ${++count} of ${process.pid}</title>`;
const refusal = (answer: Parameters<typeof errorOf>[0]) => [answer.status, errorOf(answer).code];
const noUploads = [409, 'not_accepting_uploads'];

test('an upload overtaken by a newer version during completion is superseded', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  await fill(upload, { 'index.html': unique() });
  const { store } = fixture.deps;
  const { flush } = store;
  let newer = '';
  store.flush = async () => {
    store.flush = flush;
    await flush();
    // It has its ticket by the next flush, which is that of the manifest.
    store.flush = async () => {
      store.flush = flush;
      newer = await fixture.publish(site.id, owner.accountId, { 'index.html': 'newer' });
      await flush();
    };
  };
  const overtaken = await complete(upload);
  expect([...refusal(overtaken), errorOf(overtaken).retryable]).toEqual([409, 'superseded', false]);
  expect(errorOf(overtaken).message).toContain(newer);
  expect(await read(upload.id)).toMatchObject({ status: 'superseded', superseded_by: newer });
  expect(refusal(await name(upload, named({ a: 'a' })))).toEqual([409, 'superseded']);
  expect(refusal(await complete(upload))).toEqual([409, 'superseded']);
  await until(async () => (await fixture.visit(site.name, '/')).text === 'newer');
});

test('an upload that began before a version that is live cannot be completed', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  const later = await publish(site, { 'index.html': unique() });
  await fill(upload, { 'index.html': unique() });
  expect(refusal(await complete(upload))).toEqual([409, 'superseded']);
  expect(await read(upload.id)).toMatchObject({ status: 'superseded', superseded_by: later.id });
  expect((await read(later.id)).status).toBe('live');
});

test('the next call completes an interrupted completion', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  await fill(upload, { 'index.html': 'taken up' });
  const { store } = fixture.deps;
  const { put } = store;
  store.put = async () => {
    store.put = put;
    throw new Error('the process died');
  };
  expect((await complete(upload)).status).toBe(500);
  expect(refusal(await name(upload, named({ 'late.html': 'late' })))).toEqual(noUploads);
  expect((await complete(upload)).body).toMatchObject({ status: 'live', file_count: 1 });
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('concurrent completions make one version live', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  await fill(upload, { 'index.html': unique() });
  const answers = await Promise.all(Array.from({ length: 8 }, () => complete(upload)));
  expect(answers.map(({ body }) => [body.id, body.status])).toEqual(Array(8).fill([upload.id, 'live']));
});

test('a completion syncs bytes of the account’s open uploads, not those of completed ones', async () => {
  const site = await createSite(owner);
  const [completed, open, elsewhere] = [unique(), unique(), unique()];
  await publish(site, { 'complete.html': completed });
  await fill(await begin(site), { 'open.html': open });
  await fill(await begin(await createSite(owner)), { 'elsewhere.html': elsewhere });
  const upload = await begin(site);
  const files = { 'complete.html': completed, 'open.html': open, 'elsewhere.html': elsewhere };
  expect(await fill(upload, files)).toBe(0);
  const { store } = fixture.deps;
  const { flush } = store;
  const synced: string[] = [];
  store.flush = async (hashes = []) => {
    synced.push(...hashes);
    await flush(hashes);
  };
  const { status } = await complete(upload).finally(() => {
    store.flush = flush;
  });
  expect([status, synced.sort()]).toEqual([200, [open, elsewhere].map(sha256).sort()]);
});

test('bytes lost in a power failure are requested again before completion', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  const page = unique();
  await fill(upload, { 'index.html': page });
  await rm(blobPath(fixture.config.storeDir as string, sha256(page)));
  // Where the bytes were not yet synced, that fails first.
  if (errorOf(await complete(upload)).code !== 'upload_incomplete') {
    expect(refusal(await complete(upload))).toEqual([409, 'upload_incomplete']);
  }
  expect((await send(upload, sha256(page), page)).status).toBe(200);
  expect((await complete(upload)).body.status).toBe('live');
  await rm(blobPath(fixture.config.storeDir as string, sha256(page)));
  expect((await publish(site, { 'index.html': page })).sent).toBe(1);
});

test('a site with an uploaded live version has no live source for posts', async () => {
  const site = await createSite(owner);
  await publish(site, { 'index.html': 'front' });
  const answer = await owner.call('POST', `/v1/sites/${site.id}/publish`, { body: { scope: 'posts' } });
  expect(refusal(answer)).toEqual([409, 'no_live_source']);
});

test('a completed upload supersedes earlier waiting versions', async () => {
  const site = await createSite(owner);
  const waiting = await owner.call('POST', `/v1/sites/${site.id}/publish`, {
    body: {},
    headers: { prefer: 'respond-async' },
  });
  expect(waiting.body.status).toBe('queued');
  const upload = await publish(site, { 'index.html': 'uploaded' });
  expect(await read(waiting.body.id)).toMatchObject({ status: 'superseded', superseded_by: upload.id });
});

test('tickets order uploads and publishes', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  await fill(upload, { 'index.html': 'early ticket' });
  await takeTicket(fixture.deps.em(), site.id);
  expect((await complete(upload)).body.status).toBe('live');
  const live = await goLive(fixture.deps.em(), fixture.clock, upload.id);
  expect(live.status).toBe('live');
  expect(await isStored(fixture, 'early ticket')).toBe(true);
});

test('_redirects of the output apply, and unusable ones fail the version', async () => {
  const site = await createSite(owner);
  await publish(site, { 'index.html': 'front', _redirects: '/old / 301\n' });
  await until(async () => (await fixture.visit(site.name, '/old')).status === 301);
  expect((await fixture.visit(site.name, '/_redirects')).status).toBe(404);
  const upload = await begin(site);
  await fill(upload, { 'index.html': 'worse', _redirects: '/a /b\n/b /a\n' });
  const failed = await complete(upload);
  expect(refusal(failed)).toEqual([400, 'invalid_redirects']);
  expect(errorOf(failed).message).toContain('Line 1 of _redirects creates a loop');
  expect(await read(upload.id)).toMatchObject({ status: 'failed', error: { code: 'invalid_redirects' } });
  expect((await fixture.visit(site.name, '/')).text).toBe('front');
  const second = await begin(site);
  await fill(second, { 'index.html': 'worse', _headers: '/*\n  set-cookie: a=b\n' });
  const refused = await complete(second);
  expect(refusal(refused)).toEqual([400, 'invalid_headers']);
  expect(errorOf(refused).message).toContain('Line 2 of _headers sets the header set-cookie');
  expect(await read(second.id)).toMatchObject({ status: 'failed', error: { code: 'invalid_headers' } });
});
