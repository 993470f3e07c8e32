/** Load with a record of promises: every response that confirmed stored data, with its time. */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { contentOf } from '#api/source/content.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Repositories } from '#providers/repositories.ts';
import { createSite } from '#test/api/fixture.ts';
import { bookings } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { forms } from '#test/forms/fixture.ts';
import { commitFiles, git } from '#test/git/git.ts';
import * as sample from '#test/git/samples.ts';
import { sender } from '#test/output/sending.ts';
import { makeFolder } from '#test/stack/database.ts';
import { type Fixture, type Installation, sha256 } from './fixture.ts';

type Kept = { kind: string; at: number; isThere(in_: Installation): Promise<boolean> };
export type Load = Awaited<ReturnType<typeof openLoad>>;

export async function openLoad(fixture: Fixture) {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const ask = forms(fixture);
  const form = await ask.newForm(owner, {}, site);
  const visits = bookings(fixture);
  const declared = await owner.call('POST', `/v1/sites/${site.id}/bookable`, {
    body: timetable({ calendar: { capacity: 5000 } }),
  });
  if (declared.status !== 200) throw new Error(declared.text);
  const publicId: string = declared.body.public_id;
  const [slot] = await visits.slots(publicId, visits.dateIn(3));
  const clone = await makeFolder('frontage-backup-clone-');
  const { body: credential } = await owner.call('POST', `/v1/sites/${site.id}/git-credentials`, {
    body: { repository: 'content', access: 'write' },
  });
  const address = new URL(`${fixture.url}/git/${site.id}.content.git`);
  Object.assign(address, { username: credential.username, password: credential.password });
  await git(clone, ['clone', '--quiet', address.href, '.']);

  const book: Kept[] = [];
  const promise = (kind: string, isThere: Kept['isThere']) => book.push({ kind, at: Date.now(), isThere });
  let count = 0;

  const acts = {
    async publish() {
      const page = `<!doctype html><title>Page ${++count}</title>${'<p>Hello</p>'.repeat(40)}`;
      const { id } = await sender(owner).publish(site, { 'index.html': page });
      promise('publish', async ({ deps }) => {
        const deployment = await deps.em().findOne(Deployment, { id });
        const manifest = await deps.store.readAll(deployment?.manifestSha256 ?? sha256(''));
        const [file] = manifest ? parseManifest(manifest) : [];
        return file !== undefined && (await deps.store.readAll(file.sha256))?.toString() === page;
      });
    },
    async push() {
      await commitFiles(clone, { 'posts/one.md': `# Number ${++count}\n` });
      await git(clone, ['push', '--quiet', 'origin', 'HEAD:main']);
      const commit = await git(clone, ['rev-parse', 'HEAD']);
      promise('push', async ({ deps }) => {
        const repositories = deps.repositories as Repositories;
        const main = await repositories.head(site.id, 'content');
        return main !== null && (await repositories.contains(site.id, 'content', main, commit));
      });
    },
    async asset() {
      const [path, bytes] = [`src/assets/note-${++count}.svg`, Buffer.from(sample.svg(`<title>${count}</title>`))];
      const to = `/v1/sites/${site.id}/assets/${path}`;
      const answer = await owner.call('PUT', to, {
        raw: bytes,
        headers: { 'content-type': 'application/octet-stream' },
      });
      if (answer.status !== 200) throw new Error(answer.text);
      const { oid } = contentOf(bytes);
      promise('asset', async ({ deps }) => {
        const repositories = deps.repositories as Repositories;
        const main = (await repositories.head(site.id, 'source')) as string;
        const files = await repositories.listTree(site.id, 'source', main);
        return files.some((file) => file.path === path && file.oid === oid);
      });
    },
    async enquiry() {
      const { status, body, text } = await ask.send(form.id);
      if (status !== 200) throw new Error(text);
      promise('enquiry', async ({ deps }) => {
        return (await deps.em().execute('select 1 from submission where id = ?', [body.id])).length === 1;
      });
    },
    async booking() {
      const { status, body, text } = await visits.book(publicId, slot?.start as string);
      if (status !== 200) throw new Error(text);
      promise('booking', async ({ deps }) => {
        const found = 'select 1 from booking where site_id = ? and reference = ?';
        return (await deps.em().execute(found, [site.id, body.reference])).length === 1;
      });
    },
  };

  /** All of them at once, over and over, until the answer is called; it waits for what was begun. */
  function begin(pauseMs: number): () => Promise<void> {
    let isOver = false;
    const people = Object.values(acts).map(async (act) => {
      while (!isOver) {
        await act();
        await pause(pauseMs);
      }
    });
    const all = Promise.all(people);
    all.catch(() => {});
    return async () => {
      isOver = true;
      await all;
    };
  }

  return {
    owner,
    site,
    form,
    publicId,
    acts,
    begin,
    /** Of what was promised before that moment: how much, and what of it is not there. */
    async missing(in_: Installation, before: Date) {
      const older = book.filter(({ at }) => at < before.getTime());
      const found = await Promise.all(older.map(async (one) => ((await one.isThere(in_)) ? [] : [one.kind])));
      return { promised: older.length, missing: found.flat() };
    },
    promised: () => book.length,
    close: () => rm(clone, { recursive: true, force: true }),
  };
}
