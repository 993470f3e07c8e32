import { afterAll, expect, test } from 'vitest';
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
