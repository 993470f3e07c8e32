import { afterAll, expect, test } from 'vitest';
import { sweepOutput } from '#db/deployments/output.ts';
import { createFixture, createSite, errorOf, sha256, until } from './fixture.ts';
import { named, sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const { begin, name, send, complete, fill, publish } = sender(owner);
const other = sender(stranger);
const front = (words: string) => `<!doctype html><title>${words}</title><p>${words}</p>`;
const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;
let count = 0;
const unique = () => front(`page ${++count} of ${process.pid}`);
const refusal = (answer: Parameters<typeof errorOf>[0]) => [answer.status, errorOf(answer).code];
const noUploads = [409, 'not_accepting_uploads'];

test('built output is named, sent, published and served', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  expect(upload).toMatchObject({
    kind: 'upload',
    status: 'uploading',
    number: 1,
    source_commit: null,
    restorable: false,
  });
  expect(upload.next_action).toContain(`POST /v1/deployments/${upload.id}/manifest`);
  const files = {
    'index.html': unique(),
    'a/index.html': unique(),
    'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'empty.txt': '',
  };
  const { body } = await name(upload, named(files));
  expect(body.missing.sort()).toEqual(
    named(files)
      .map((file) => file.sha256)
      .sort(),
  );
  for (const content of Object.values(files)) {
    const { status, body } = await send(upload, sha256(content), content);
    expect([status, body]).toEqual([200, { sha256: sha256(content), bytes: content.length }]);
  }
  const done = await complete(upload);
  expect(done.body).toMatchObject({ id: upload.id, status: 'live', restorable: true, file_count: 4 });
  expect(done.body.next_action).toBeUndefined();
  await until(async () => (await fixture.visit(site.name, '/')).text === files['index.html']);
  expect((await fixture.visit(site.name, '/a/')).text).toBe(files['a/index.html']);
  const page = await fixture.visit(site.name, '/', { 'accept-encoding': 'br' });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect((await owner.call('GET', `/v1/deployments/${upload.id}/files`)).body.items).toHaveLength(4);
});

test('for a second version only changes are sent, and the first can be restored', async () => {
  const site = await createSite(owner);
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}.html`, unique()]));
  const first = await publish(site, { ...files, 'index.html': 'first' });
  expect(first.sent).toBe(31);
  const second = await publish(site, { ...files, 'index.html': 'second' });
  expect(second.sent).toBe(1);
  expect((await read(second.id)).changes).toMatchObject({
    against: first.id,
    counts: { added: 0, modified: 1, removed: 0 },
  });
  await until(async () => (await fixture.visit(site.name, '/')).text === 'second');
  expect((await owner.call('POST', `/v1/deployments/${first.id}/restore`)).status).toBe(200);
  await until(async () => (await fixture.visit(site.name, '/')).text === 'first');
});

test('bytes of earlier builds of the account are not requested again', async () => {
  const [built, site] = [await createSite(owner), await createSite(owner)];
  const page = unique();
  await fixture.publish(built.id, owner.accountId, { 'index.html': page });
  expect((await publish(site, { 'index.html': page })).sent).toBe(0);
});

test('a manifest comes in parts, and missing files can be listed at any time', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  const [a, b] = [unique(), unique()];
  await name(upload, named({ 'index.html': a, 'copy.html': a }));
  await name(upload, named({ 'b.html': b }));
  expect((await read(upload.id)).missing.sort()).toEqual([sha256(a), sha256(b)].sort());
  await send(upload, sha256(a), a);
  expect((await read(upload.id)).missing).toEqual([sha256(b)]);
  const early = await complete(upload);
  expect(refusal(early)).toEqual([409, 'upload_incomplete']);
  expect(errorOf(early).message).toBe('1 file is missing: b.html.');
  await send(upload, sha256(b), b);
  expect((await send(upload, sha256(b), b)).status).toBe(200);
  expect((await complete(upload)).body).toMatchObject({ status: 'live', file_count: 3 });
});

test('a part is named as fast as the first, after any number of parts', async () => {
  const caller = await fixture.newCaller();
  const { begin, name } = sender(caller);
  const site = await createSite(caller);
  const part = (n: number) =>
    Array.from({ length: 5_000 }, (_, m) => ({ path: `${n}/${m}.html`, sha256: sha256(`${n}/${m}`), bytes: 10 }));
  await name(await begin(site), part(0));
  // The planner knows one deployment, and no other.
  await fixture.deps.em().execute('analyze upload_file');
  const upload = await begin(site);
  const took = [];
  for (const n of [0, 1, 2]) {
    const began = performance.now();
    expect((await name(upload, part(n))).body.missing).toHaveLength(5_000);
    took.push(performance.now() - began);
  }
  expect(took[2]).toBeLessThan((took[0] ?? 0) * 3 + 3_000);
}, 120_000);

test('names with quotes and SQL keywords are accepted', async () => {
  const site = await createSite(owner);
  const files = { 'say "hi", {ok}.txt': 'a', "it's $1 ?.txt": 'b', 'null.txt': 'c' };
  const upload = await begin(site);
  expect((await name(upload, named(files))).status).toBe(200);
  const again = await name(upload, named(files));
  expect(errorOf(again).code).toBe('invalid_manifest');
});

test('a repeated part returns what is missing now', async () => {
  const upload = await begin(await createSite(owner));
  const [a, b] = [unique(), unique()];
  const again = () =>
    owner.call('POST', `/v1/deployments/${upload.id}/manifest`, {
      body: { files: named({ 'a.html': a, 'b.html': b }) },
      headers: { 'idempotency-key': `part-${upload.id}` },
    });
  expect((await again()).body.missing).toHaveLength(2);
  await send(upload, sha256(a), a);
  expect((await again()).body.missing).toEqual([sha256(b)]);
});

test('a repeated completion returns the same version, which accepts no more files', async () => {
  const site = await createSite(owner);
  const page = unique();
  const upload = await publish(site, { 'index.html': page });
  expect((await complete(upload)).body).toMatchObject({ id: upload.id, status: 'live' });
  expect(refusal(await name(upload, named({ 'x.html': page })))).toEqual(noUploads);
  expect(refusal(await send(upload, sha256(page), page))).toEqual(noUploads);
  await publish(site, { 'index.html': unique() });
  expect((await complete(upload)).body).toMatchObject({ id: upload.id, status: 'retired' });
});

test('a version built from source accepts no files', async () => {
  const site = await createSite(owner);
  const id = await fixture.publish(site.id, owner.accountId, { 'index.html': unique() });
  for (const answer of [
    await name({ id }, named({ a: 'a' })),
    await send({ id }, sha256('a'), 'a'),
    await complete({ id }),
  ]) {
    expect(refusal(answer)).toEqual(noUploads);
    expect(errorOf(answer).message).toContain('was built from source');
  }
});

test('an upload expires after exactly 24 hours, with its rows', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  const page = unique();
  await fill(upload, { 'index.html': page });
  fixture.skip(24 * 3600_000);
  expect(await read(upload.id)).toMatchObject({ status: 'cancelled' });
  for (const answer of [
    await name(upload, named({ a: 'a' })),
    await send(upload, sha256(page), page),
    await complete(upload),
  ]) {
    expect(refusal(answer)).toEqual(noUploads);
  }
  expect(await sweepOutput(fixture.deps.em(), fixture.clock.now())).toBeGreaterThan(0);
  const [row] = await fixture.deps
    .em()
    .execute(
      'select status, (select count(*) from upload_file where deployment_id = id)::int as rows from deployment where id = ?',
      [upload.id],
    );
  expect(row).toEqual({ status: 'cancelled', rows: 0 });
  expect((await publish(site, { 'index.html': page })).sent).toBe(0);
});

test('the oldest upload ends when too many are open', async () => {
  const site = await createSite(owner);
  const uploads = [];
  for (let n = 0; n < 11; n++) uploads.push(await begin(site));
  expect((await read(uploads[0].id)).status).toBe('cancelled');
  expect((await read(uploads[1].id)).status).toBe('uploading');
  expect((await read(uploads[10].id)).status).toBe('uploading');
});

test('an archived site accepts no uploads, and open ones end', async () => {
  const site = await createSite(owner);
  const upload = await begin(site);
  await fill(upload, { 'index.html': 'x' });
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(refusal(await owner.call('POST', `/v1/sites/${site.id}/deployments`))).toEqual([409, 'site_archived']);
  for (const answer of [await name(upload, named({ a: 'a' })), await complete(upload)])
    expect(refusal(answer)).toEqual([409, 'site_archived']);
});

test('an upload is invisible to other accounts', async () => {
  const upload = await begin(await createSite(owner));
  const notFound = [404, 'not_found'];
  expect(refusal(await other.name(upload, named({ a: 'a' })))).toEqual(notFound);
  expect(refusal(await other.send(upload, sha256('a'), 'a'))).toEqual(notFound);
  expect(refusal(await other.complete(upload))).toEqual(notFound);
});
