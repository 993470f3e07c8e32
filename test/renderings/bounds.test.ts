/** What a hostile page cannot make a worker hold or tell. No browser is needed. */
import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { checkPage } from '#activities/rendering/check-page.ts';
import { openVersion } from '#activities/rendering/site-version.ts';
import type { OpenPage } from '#providers/browser/page.ts';
import { type Fields, type Listener, openPipe, type Pipe } from '#providers/browser/pipe.ts';
import { openRequests, type SiteVersion } from '#providers/browser/site-files.ts';
import { wallCommand } from '#providers/browser/wall.ts';
import { renderManifest } from '#providers/manifest.ts';
import { type Finding, findingKinds, oneForEachCause } from '#rules/findings.ts';
import { until } from '#test/stack/until.ts';

const origin = 'https://pottery.test';
const version = { key: 'one', account: 'acct', origin };

/** A pipe whose calls are answered when the test says so. */
function openStage() {
  const sent: { method: string; params: Fields; answer: () => void }[] = [];
  let listen: Listener = () => {};
  const pipe: Pipe = {
    send: (method, params = {}) =>
      new Promise((resolve) => {
        sent.push({ method, params, answer: () => resolve({}) });
      }),
    on: (_event, listener) => {
      listen = listener;
    },
    nextPage: () => {},
    close: () => {},
  };
  let number = 0;
  return {
    pipe,
    sent,
    request(url: string) {
      number += 1;
      listen({ requestId: String(number), request: { url, method: 'GET' } }, 'page');
    },
  };
}

test('of forty files asked for at once, four are in memory', async () => {
  const { pipe, sent, request } = openStage();
  let reads = 0;
  const read = async () => {
    reads += 1;
    return { type: 'text/plain', body: Buffer.from('x') };
  };
  const { answered } = openRequests(pipe, () => true, { ...version, read });
  for (let n = 0; n < 40; n++) request(`${origin}/${n}`);
  await until(
    () => sent.length,
    (length) => length === 4,
  );
  expect(reads).toBe(4);
  for (let taken = 0; taken < 40; taken++) {
    await until(
      () => sent.length,
      (length) => length > taken,
    );
    sent[taken]?.answer();
    expect(reads).toBeLessThanOrEqual(taken + 4);
  }
  expect(answered).toHaveLength(40);
});

test('an address that no edge takes is refused, and not kept', async () => {
  const { pipe, sent, request } = openStage();
  const { answered, elsewhere } = openRequests(pipe, () => true, { ...version, read: async () => undefined });
  for (const host of [origin, 'https://far.test']) request(`${host}/${'x'.repeat(2_000_000)}`);
  await until(
    () => sent.length,
    (length) => length === 2,
  );
  expect(sent.map(({ method }) => method)).toEqual(['Fetch.failRequest', 'Fetch.failRequest']);
  expect([answered.length, elsewhere.size]).toEqual([0, 0]);
});

test('a finding is short, however long the words and names of the page', async () => {
  const long = 'x'.repeat(1_000_000);
  const found = [
    { kind: 'small_text', selector: `#${long}`, text: long, area: null, more: { size: 9 } },
    { kind: 'link', selector: 'a', text: 'Away', area: null, more: { path: `/${long}` } },
  ];
  const missing = Array.from({ length: 2_000 }, (_, n) => ({
    url: `${origin}/${n}-${'y'.repeat(7_000)}`,
    status: 404,
    bytes: 9,
    type: 'text/plain',
  }));
  const answers = [found, []];
  const page = {
    answered: missing,
    elsewhere: new Set<string>(),
    errors: [],
    wasStopped: false,
    evaluate: async () => answers.shift(),
    picture: async () => Buffer.alloc(0),
    close: async () => {},
  } satisfies OpenPage;
  const shown = { ...version, read: async () => undefined, leadsSomewhere: () => false };
  const findings = await checkPage(shown, page, { page: '/', width: 390 });
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['small_text', 'broken_link', 'broken_file']));
  expect(findings.length).toBeLessThan(100);
  expect(JSON.stringify(findings).length).toBeLessThan(100_000);
});

test('elements with the same two colours are one finding, counted once in both windows', () => {
  const of = (selector: string, width: number, advice = 'Use other colours; #bbb on #fff is 1.9:1.'): Finding => {
    const place = { page: '/', width, selector, text: selector, advice };
    return { kind: 'contrast', severity: findingKinds.contrast, ...place, count: 1, picture: null };
  };
  const found = [of('#a', 390), of('#b', 390), of('#a', 1280), of('#c', 390, 'Use other colours.')];
  expect(oneForEachCause(found)).toMatchObject([
    { selector: '#a', width: 390, count: 2 },
    { selector: '#c', count: 1 },
  ]);
});

test('two sites with the same files have two browsers', async () => {
  const manifest = renderManifest([{ path: 'index.html', sha256: 'a'.repeat(64), bytes: 1 }]);
  const store = { readAll: async () => manifest };
  const open = (siteUrl: string) => openVersion(store, 'acct', { manifestSha256: 'b'.repeat(64), siteUrl }, []);
  const [one, same, other] = [await open(`${origin}/`), await open(`${origin}/`), await open('https://mill.test/')];
  expect([same?.key === one?.key, other?.key === one?.key]).toEqual([true, false]);
});

test('a deep link of an app is shown as the app, by valid rules', async () => {
  const appWith = async (rules: string) => {
    const contents = { 'index.html': 'The app', _redirects: rules };
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
    const list = Object.entries(contents).map(([path, text]) => ({ path, sha256: hashOf(text), bytes: text.length }));
    const manifestSha256 = 'b'.repeat(64);
    const blobs = new Map([[manifestSha256, renderManifest(list)]]);
    for (const text of Object.values(contents)) blobs.set(hashOf(text), Buffer.from(text));
    const store = { readAll: async (sha256: string) => blobs.get(sha256) };
    return await openVersion(store, 'acct', { manifestSha256, siteUrl: `${origin}/` }, []);
  };
  const shown = async (app: SiteVersion | undefined, paths: string[]) => {
    const files = await Promise.all(paths.map((path) => app?.read(path)));
    return files.map((file) => (file && 'body' in file ? String(file.body) : undefined));
  };
  const paths = ['/', '/orders/17?tab=2', '/missing.js'];
  expect(await shown(await appWith('/* /index.html 200\n'), paths)).toEqual(['The app', 'The app', undefined]);
  // A file that is older than the rules: the edge ignores it, too.
  expect(await shown(await appWith('/* /* 200\n'), paths)).toEqual(['The app', undefined, undefined]);
});

test('Chromium is shown nothing of other programs in /opt', () => {
  const command = wallCommand('outer', '/bin/sh');
  expect(command).toContain('/usr');
  expect(command.filter((part) => part.startsWith('/opt'))).toEqual([]);
});

test('each page may make the browser send as much as the one before', async () => {
  const output = new PassThrough();
  const faults: string[] = [];
  const heard: number[] = [];
  const pipe = openPipe(new PassThrough(), output, ({ message }) => faults.push(message), 1_000);
  pipe.on('Page.told', ({ number }) => heard.push(number));
  const tell = async (number: number) => {
    output.write(`${JSON.stringify({ method: 'Page.told', params: { number, words: 'x'.repeat(600) } })}\0`);
    await until(
      () => heard.includes(number) || faults.length > 0,
      (isTold) => isTold,
    );
  };
  await tell(1);
  pipe.nextPage();
  await tell(2);
  expect([heard, faults]).toEqual([[1, 2], []]);
  await tell(3);
  await until(
    () => faults,
    ({ length }) => length > 0,
  );
  expect(faults).toEqual(['The page made the browser send too much.']);
});
