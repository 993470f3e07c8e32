/** In which state a site comes in elsewhere, and whether there is room for it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { blockOf } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { createSite, withLimits } from '#test/api/fixture.ts';
import { createFixture, type Fixture, keepOpened } from '#test/backups/fixture.ts';
import { entriesOf, openArchives, withDocument, writeArchive } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
let archives: Awaited<ReturnType<typeof openArchives>>;
let owner: Awaited<ReturnType<Fixture['newCaller']>>;
let site: { id: string };
let exported: string;
const { elsewhere: openElsewhere, closeAll } = keepOpened();
beforeAll(async () => {
  [fixture, archives] = await Promise.all([createFixture(), openArchives()]);
  owner = await fixture.newCaller();
  site = await createSite(owner);
  await fixture.publish(site.id, owner.accountId, { 'index.html': '<!doctype html><title>T</title>' });
  exported = archives.path();
  await exportSite(fixture, { siteId: site.id, into: exported, withVisitors: true });
});
afterAll(async () => {
  await closeAll();
  await archives?.remove();
  await fixture?.close();
});

async function elsewhere() {
  const made = await openElsewhere();
  const { id } = await openAccount(made.deps.em(), made.clock, { email: 'new@example.com', name: 'New' });
  return { ...made, accountId: id };
}

test('archived and blocked sites are imported as such, with the reason', async () => {
  const { deps, clock } = fixture;
  const reason = 'It shows what is not its own.';
  const states = {
    archived: [
      () => owner.call('POST', `/v1/sites/${site.id}/archive`),
      () => owner.call('POST', `/v1/sites/${site.id}/unarchive`),
      { status: 'archived', blocked: null },
    ],
    blocked: [
      () => blockSite(deps.em(), clock, site.id, reason),
      () => unblockSite(deps.em(), deps.clock, site.id),
      { status: 'active', blocked: { at: expect.any(Date), reason } },
    ],
    'of a blocked account': [
      () => blockAccount(deps.em(), fixture, owner.accountId, 'A reason for its owner alone.'),
      () => unblockAccount(deps.em(), fixture, owner.accountId),
      { status: 'active', blocked: { at: expect.any(Date), reason: 'The owner’s account is blocked.' } },
    ],
  } as const;
  for (const [begin, end, expected] of Object.values(states)) {
    const archive = archives.path();
    await begin();
    await exportSite(fixture, { siteId: site.id, into: archive, withVisitors: false });
    await end();
    const other = await elsewhere();
    await importSite(other, { archive, accountId: other.accountId });
    const { status, ...taken } = await other.deps.em().findOneOrFail(Site, { id: site.id });
    expect({ status, blocked: blockOf(taken) }).toEqual(expected);
  }
});

test('an imported site counts against its new account’s plan unless it is archived', async () => {
  const other = await elsewhere();
  const { config } = other;
  const full = { ...other, config: withLimits(config, { sites: 0 }) };
  const wish = { archive: exported, accountId: other.accountId };
  await expect(importSite(full, wish)).rejects.toThrow(
    'The plan has a limit of 0 sites, and this account has reached it.',
  );
  expect(await other.deps.em().count(Site)).toBe(0);
  expect(await other.deps.repositories?.siteIds()).toEqual([]);
  const archived = withDocument(await entriesOf(exported), ({ site }) => {
    site.archived_at = '2026-01-01T00:00:00Z';
  });
  await importSite(full, { ...wish, archive: await writeArchive(archives.path(), archived) });
});
