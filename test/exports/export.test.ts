import { truncate } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { ExportFault, type SiteDocument } from '#api/exports/document.ts';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { newId } from '#runtime/ids.ts';
import { callWith } from '#test/api/fixture.ts';
import { createFixture, type Fixture, type Installation, keepOpened } from '#test/backups/fixture.ts';
import { type Load, openLoad } from '#test/backups/load.ts';
import { ada, forms } from '#test/forms/fixture.ts';
import { folder, git } from '#test/git/git.ts';
import * as sample from '#test/git/samples.ts';
import { type Entry, entriesOf, inYear9999, openArchives, withDocument, writeArchive } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
let load: Load;
let archives: Awaited<ReturnType<typeof openArchives>>;
let exported: string;
const { opened, elsewhere: openElsewhere, closeAll } = keepOpened();
beforeAll(async () => {
  [fixture, archives] = await Promise.all([createFixture(), openArchives()]);
  load = await openLoad(fixture);
  for (const act of Object.values(load.acts)) await act();
  const { owner, site } = load;
  const ruled = await owner.call('PUT', `/v1/sites/${site.id}/redirects`, {
    body: { rules: [{ from: '/old', to: '/', status: 301 }] },
  });
  const screenshot = Buffer.from(sample.png).toString('base64');
  const comment = await owner.call('POST', `/v1/sites/${site.id}/comments`, {
    body: { page: '/', body: 'Make it larger', screenshot_base64: screenshot },
  });
  for (const { status, text } of [ruled, comment]) if (status !== 200) throw new Error(text);
  exported = archives.path();
  await exportSite(fixture, { siteId: site.id, into: exported, withVisitors: true });
}, 180_000);
afterAll(async () => {
  await closeAll();
  await load?.close();
  await archives?.remove();
  await fixture?.close();
});

async function elsewhere(): Promise<Installation & { accountId: string }> {
  const made = await openElsewhere();
  const { id } = await openAccount(made.deps.em(), made.clock, { email: 'new@example.com', name: 'New' });
  return { ...made, accountId: id };
}

/** Everything that an import could leave: rows, repositories, files. */
async function heldBy({ deps }: Installation) {
  const files = [];
  for await (const { sha256 } of deps.store.list()) files.push(sha256);
  const counts = await deps
    .em()
    .execute(
      'select (select count(*)::int from site) + (select count(*)::int from form) + (select count(*)::int from deployment) as rows',
    );
  return { rows: counts[0]?.rows, sites: await deps.repositories?.siteIds(), files };
}
const nothing = { rows: 0, sites: [], files: [] };

test('an imported site works as before: pages, clones, forms and bookings at their addresses', async () => {
  const other = await createFixture();
  opened.push(other);
  const mover = await other.newCaller();
  const { site, form, publicId } = load;
  const imported = await importSite(other, { archive: exported, accountId: mover.accountId });
  expect(imported).toMatchObject({
    site_id: site.id,
    rows: {
      form: 1,
      submission: 1,
      booking: 1,
      calendar: 1,
      bookable: 1,
      comment_thread: 1,
      comment_message: 1,
      asset: 1,
    },
  });
  const page = async (in_: Fixture) =>
    (await in_.visit(site.name, '/', { 'accept-encoding': 'br' })).body.toString('hex');
  await expect.poll(() => page(other)).toBe(await page(fixture));
  expect((await other.visit(site.name, '/old')).status).toBe(301);
  // A page that was written before the move sends here, as its visitors' browsers do.
  const visitors = forms(other);
  const sent = await visitors.send(form.id, ada);
  expect([sent.status, (await visitors.submissions(mover, form.id)).body.items.length]).toEqual([200, 2]);
  const anyone = callWith(other.url);
  const described = await anyone('GET', `/b/${publicId}`);
  expect([described.status, described.body.services[0].key]).toEqual([200, 'talk']);
  const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const slots = (await anyone('GET', `/b/${publicId}/slots?service=talk&date=${day}`)).body.slots;
  const booked = await anyone('POST', `/b/${publicId}`, {
    body: { service: 'talk', start: slots[0].start, visitor: { name: 'Ada', email: 'ada@example.org' } },
  });
  expect(booked.status).toBe(200);
  const call = mover.call;
  expect((await call('GET', `/v1/sites/${site.id}/comments`)).body.items).toHaveLength(1);
  const { body: login } = await call('POST', `/v1/sites/${site.id}/git-credentials`, {
    body: { repository: 'content', access: 'write' },
  });
  await using clone = await folder();
  const address = Object.assign(new URL(`${other.url}/git/${site.id}.content.git`), login);
  await git(clone.path, ['clone', '--quiet', address.href, '.']);
  expect(await git(clone.path, ['rev-parse', 'HEAD'])).toBe(await fixture.deps.repositories?.head(site.id, 'content'));
  expect(
    (
      await call('POST', `/v1/sites/${site.id}/publish`, {
        body: { scope: 'site' },
        headers: { prefer: 'respond-async' },
      })
    ).status,
  ).toBe(200);
});

test('a price of an older archive stays that of a whole booking', async () => {
  const old = withDocument(await entriesOf(exported), ({ rows }) => {
    for (const { services } of rows.bookable) {
      const [talk] = services as object[];
      Object.assign(talk ?? {}, { price: { amount: 3000, currency: 'EUR' } });
      services.push({ ...talk, key: 'seats', price: { amount: 10, currency: 'EUR', per: 'seat' } } as never);
    }
  });
  const other = await createFixture();
  opened.push(other);
  const { accountId } = await other.newCaller();
  await importSite(other, { archive: await writeArchive(archives.path(), old), accountId });
  const { body } = await callWith(other.url)('GET', `/b/${load.publicId}`);
  expect(body.services.map(({ price }: { price: object }) => price)).toEqual([
    { amount: 3000, currency: 'EUR', per: 'booking' },
    { amount: 10, currency: 'EUR', per: 'seat' },
  ]);
});

test('an archive without visitors contains no visitor data', async () => {
  const archive = archives.path();
  const { rows } = await exportSite(fixture, { siteId: load.site.id, into: archive, withVisitors: false });
  expect(rows).toMatchObject({ form: 1, submission: 0, booking: 0 });
  expect(JSON.stringify((await entriesOf(archive)).at(-1)?.bytes.toString())).not.toContain('Ada');
});

test('an existing site or name is not imported again', async () => {
  const again = importSite(fixture, { archive: exported, accountId: load.owner.accountId });
  await expect(again).rejects.toThrow('This site already exists');
  const other = await elsewhere();
  await importSite(other, { archive: exported, accountId: other.accountId, name: 'moved' });
  const renamed = await writeArchive(
    archives.path(),
    withDocument(await entriesOf(exported), (document) => {
      document.site.id = newId('site');
      document.site.name = 'another';
    }),
  );
  const before = await heldBy(other);
  // Its forms, and the address of its bookings, are another site's.
  await expect(importSite(other, { archive: renamed, accountId: other.accountId })).rejects.toThrow('already exists');
  expect(await heldBy(other)).toEqual(before);
});

type Hostile = [what: string, entries: (whole: Entry[]) => Entry[]];
const says = (change: (document: SiteDocument) => void) => (whole: Entry[]) => withDocument(whole, change);
const bent: Hostile[] = [
  ['a path out of it', (whole) => [{ name: '../../etc/x', bytes: Buffer.from('x') }, ...whole]],
  ['a path from the root', (whole) => [{ name: '/tmp/frontage-x', bytes: Buffer.from('x') }, ...whole]],
  [
    'a link',
    (whole) => [{ name: 'blobs/x', bytes: Buffer.alloc(0), type: 'symlink', linkname: '/etc/passwd' }, ...whole],
  ],
  ['a file twice', (whole) => [...whole, whole[0] as Entry]],
  [
    'a file under another hash',
    (whole) => whole.map((one, at) => (at === 0 ? { ...one, bytes: Buffer.from('y') } : one)),
  ],
  [
    'a file that nothing names',
    (whole) => [
      { name: `blobs/${'2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'}`, bytes: Buffer.from('x') },
      ...whole,
    ],
  ],
  ['a file less', (whole) => whole.slice(1)],
  ['no site.json', (whole) => whole.slice(0, -1)],
  [
    'a pack that is none',
    (whole) => whole.map((one) => (one.name === 'source.pack' ? { ...one, bytes: Buffer.from('PACK') } : one)),
  ],
  ['a row of another account', says(({ rows }) => Object.assign(rows.form[0] as object, { account_id: 'acct_x' }))],
  [
    'a form whose id is none',
    says(({ rows }) => Object.assign(rows.form[0] as object, { id: "form_'; drop table site; --" })),
  ],
  [
    'an enquiry for a form of somebody else',
    says(({ rows }) => Object.assign(rows.submission[0] as object, { form_id: newId('form') })),
  ],
  [
    'a booking in a calendar of somebody else',
    says(({ rows }) => Object.assign(rows.booking[0] as object, { calendar_id: newId('cal') })),
  ],
  [
    'a booking without an end',
    says(({ rows }) => Object.assign(rows.booking[0] as object, { ends_at: rows.booking[0]?.starts_at })),
  ],
  ['a booking in the year 9999', says(({ rows }) => Object.assign(rows.booking[0] as object, inYear9999))],
  ['more seats than there are', says(({ rows }) => Object.assign(rows.calendar[0] as object, { capacity: 0 }))],
  ['a commit that is not there', says(({ live }) => Object.assign(live as object, { source_commit: 'a'.repeat(40) }))],
  [
    'a branch that leads nowhere',
    says(({ repositories }) => Object.assign(repositories.source?.refs ?? {}, { 'refs/heads/main': 'b'.repeat(40) })),
  ],
  [
    'a branch of another name',
    says(({ repositories }) => Object.assign(repositories.source?.refs ?? {}, { 'refs/../../HEAD': 'b'.repeat(40) })),
  ],
  [
    'a circle of redirects',
    says((document) => Object.assign(document, { redirects: [{ from: '/a', to: '/a', status: 301 }] })),
  ],
  ['a name of the platform', says(({ site }) => Object.assign(site, { name: 'www' }))],
  ['a NUL', says(({ rows }) => Object.assign(rows.booking[0] as object, { visitor_name: 'a\0b' }))],
  ['a newer format', says((document) => Object.assign(document, { format: 2 }))],
];

test('an altered archive is refused completely, and leaves nothing', async () => {
  const other = await elsewhere();
  const whole = await entriesOf(exported);
  for (const [what, bend] of bent) {
    const archive = await writeArchive(archives.path(), bend(whole));
    const taking = importSite(other, { archive, accountId: other.accountId });
    await expect(taking, what).rejects.toThrow(ExportFault);
    expect(await heldBy(other), what).toEqual(nothing);
  }
  const torn = await writeArchive(archives.path(), whole);
  await truncate(torn, 5000);
  await expect(importSite(other, { archive: torn, accountId: other.accountId })).rejects.toThrow(ExportFault);
  await expect(importSite(other, { archive: exported, accountId: newId('acct') })).rejects.toThrow('no account');
  expect(await heldBy(other)).toEqual(nothing);
  // The same installation takes the archive as it was written.
  expect(await importSite(other, { archive: exported, accountId: other.accountId })).toMatchObject({
    site_id: load.site.id,
  });
});
