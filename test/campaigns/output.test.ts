/**
 * A large site through the manifest flow. 300 files, or 20,000 in the long form. Prints what it took.
 */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { tarOf } from '#test/output/archives.ts';
import { createFixture, createSite, sha256, until } from '#test/output/fixture.ts';
import { named, type Output, sender } from '#test/output/sending.ts';
import { sized } from './size.ts';

const count = sized({ short: 300, long: 20_000 });
const fixture = await createFixture({ FRONTAGE_RATE_SCALE: '1000000' });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { begin, name, send, complete } = sender(owner);
const ms = (since: number) => Math.round(performance.now() - since);
const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Pages of 10 KB that share little. */
const pages = (count: number): Output =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `section-${n % 100}/page-${n}.html`,
      `<!doctype html><title>Page ${n}</title><a href="/section-0/page-0">x</a><p>${randomBytes(5_050).toString('hex')}</p>`,
    ]),
  );

/** Completes the upload, and waits until a visitor gets its marked page. */
async function goLive(site: { name: string }, upload: { id: string }, files: Output) {
  const completing = performance.now();
  const done = await complete(upload);
  const completeMs = ms(completing);
  expect([done.status, done.body.status, done.body.file_count]).toEqual([200, 'live', Object.keys(files).length]);
  await until(async () => (await fixture.visit(site.name, '/marked')).text === files['marked.html']);
  return { completeMs, seenMs: ms(completing) };
}

/** Names all files in parts of 5,000 and sends what is missing, 8 at a time. */
async function publish(site: { id: string; name: string }, files: Output) {
  const upload = await begin(site);
  const contents = new Map(Object.values(files).map((content) => [sha256(content), content]));
  const began = performance.now();
  const all = named(files);
  const missing: string[] = [];
  for (let at = 0; at < all.length; at += 5_000) {
    const { status, body, text } = await name(upload, all.slice(at, at + 5_000));
    if (status !== 200) throw new Error(text);
    missing.push(...body.missing);
  }
  const manifestMs = ms(began);
  const sending = performance.now();
  const queue = missing.values();
  const work = async () => {
    for (const hash of queue) {
      const { status, text } = await send(upload, hash, contents.get(hash) ?? '');
      if (status !== 200) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  const sendMs = ms(sending);
  return { sent: missing.length, manifestMs, sendMs, ...(await goLive(site, upload, files)) };
}

/** Sends all files as one archive. */
async function publishArchive(files: Output) {
  const site = await createSite(owner);
  const raw = gzipSync(await tarOf(Object.entries(files).map(([path, content]) => ({ name: path, content }))));
  const sending = performance.now();
  const upload = await begin(site);
  const headers = { 'content-type': 'application/gzip' };
  const { status, text } = await owner.call('POST', `/v1/deployments/${upload.id}/archive`, { raw, headers });
  if (status !== 200) throw new Error(text);
  const sendMs = ms(sending);
  return { sendMs, ...(await goLive(site, upload, files)) };
}

async function campaign(size: number) {
  const site = await createSite(owner);
  const files = pages(size - 1);
  const archive = await publishArchive({ ...pages(size - 1), 'marked.html': `archive of ${size}` });
  const first = await publish(site, { ...files, 'marked.html': `first of ${size}` });
  expect(first.sent).toBe(size);
  const later = [];
  for (const nth of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
    const again = await publish(site, { ...files, 'marked.html': `${nth} of ${size}` });
    expect(again.sent).toBe(1);
    later.push(again);
  }
  const one = {
    manifestMs: median(later.map(({ manifestMs }) => manifestMs)),
    completeMs: median(later.map(({ completeMs }) => completeMs)),
    seenMs: median(later.map(({ seenMs }) => seenMs)),
  };
  console.info(`${size} files of 10 KB: ${JSON.stringify({ archive, first, 'one changed, median of 5': one })}`);
  return one;
}

test('after one change in a large site, one file is sent and quickly live', {
  timeout: 1_800_000,
}, async () => {
  const small = await campaign(100);
  const large = await campaign(count);
  // Loose, for machines that do other things too; the figures are printed.
  expect(large.completeMs).toBeLessThan(small.completeMs * 3 + 1_500);
});
