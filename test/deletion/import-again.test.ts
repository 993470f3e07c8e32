/** The archive of a site that was purged, imported where its receipts still are. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { createSite } from '#test/api/fixture.ts';
import { openArchives } from '#test/exports/fixture.ts';
import { createDeletionFixture, type DeletionFixture } from './fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

let fixture: DeletionFixture;
let archives: Awaited<ReturnType<typeof openArchives>>;
beforeAll(async () => {
  [fixture, archives] = await Promise.all([createDeletionFixture(), openArchives()]);
}, 120_000);
afterAll(async () => {
  await archives?.remove();
  await fixture?.close();
});

async function archiveOf(siteId: string): Promise<string> {
  const into = archives.path();
  await exportSite(fixture, { siteId, into, withVisitors: true });
  return into;
}

test('an archive brings back a purged site beside its receipts', async () => {
  const full = await fixture.fullSite(5);
  const { owner, site, form, publicId, payment, promised } = full;
  const archive = await archiveOf(site.id);
  const wish = { archive, accountId: owner.accountId };
  await fixture.ageStore();
  await expect(importSite(fixture, wish)).rejects.toThrow('This site already exists.');
  await fixture.startDeletion(full);
  await expect(importSite(fixture, wish)).rejects.toThrow('This site is being deleted.');
  await fixture.purge(site.id);
  await fixture.expectGone(full);
  const em = fixture.deps.em();
  await em.execute('update site set delete_at = now() where id = ?', [site.id]);
  await expect(importSite(fixture, wish)).rejects.toThrow('This site is still being removed.');
  await em.execute('update site set delete_at = null where id = ?', [site.id]);
  const stranger = await fixture.newCaller();
  const elsewhere = importSite(fixture, { archive, accountId: stranger.accountId });
  await expect(elsewhere).rejects.toThrow(`belong to ${owner.accountId}`);
  await fixture.expectGone(full);

  // As after the payment of the booking was returned.
  await em.execute(`update booking set status = 'cancelled', cancelled_at = now() where site_id = ?`, [site.id]);
  expect(await importSite(fixture, wish)).toMatchObject({ site_id: site.id, rows: { booking: 1, form: 1 } });
  await expect.poll(async () => (await fixture.visit(site.name, '/')).text).toContain(site.name);
  // Only the live version was in the archive.
  expect(await full.missing(fixture, new Date())).toEqual({ promised: promised(), missing: ['publish'] });
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({ status: 'active', name: site.name });
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.status).toBe('enabled');
  const timetable = (await owner.call('GET', `/v1/sites/${site.id}/bookable`)).body;
  expect(timetable).toMatchObject({ public_id: publicId, calendars: [{ capacity: 5000 }] });
  const booked = await em.execute('select status, visitor_name from booking where site_id = ?', [site.id]);
  expect(booked).toEqual([{ status: 'cancelled', visitor_name: expect.stringMatching(/./) }]);
  expect(await em.execute('select id from payment where site_id = ?', [site.id])).toEqual([{ id: payment }]);

  await fixture.publish(site.id, owner.accountId, { 'index.html': '<p>Again' });
  await expect.poll(async () => (await fixture.visit(site.name, '/')).text).toContain('Again');
  await fixture.ageStore();
  await fixture.startDeletion(full);
  await fixture.purge(site.id);
  await fixture.expectGone(full);
  await full.close();
});

test('an imported site stays blocked where its operator blocked it', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const archive = await archiveOf(site.id);
  await fixture.startDeletion({ owner, site });
  const blocked = `update site set blocked_at = now(), block_reason = 'Abuse.' where id = ?`;
  await fixture.purge(site.id);
  await fixture.deps.em().execute(blocked, [site.id]);
  await importSite(fixture, { archive, accountId: owner.accountId, name: `${site.name}-2` });
  const { body } = await owner.call('GET', `/v1/sites/${site.id}`);
  expect(body).toMatchObject({ name: `${site.name}-2`, blocked: { reason: 'Abuse.' } });
});
