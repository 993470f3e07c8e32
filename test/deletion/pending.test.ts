/** What archiving a site leaves, and what its deletion takes away. */
import { afterAll, expect, test } from 'vitest';
import { dayMs } from '#rules/time.ts';
import { type Caller, createSite, errorOf } from '#test/api/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture(challengeEnv);
afterAll(() => fixture.close());

const path = (site: { id: string }, rest = '') => `/v1/sites/${site.id}${rest}`;

/** Three payments, a past and a paid future booking, a domain and a form. */
async function fill(owner: Caller, site: { id: string; name: string }): Promise<void> {
  const [em, now] = [fixture.deps.em(), fixture.clock.now()];
  const later = new Date(now.getTime() + dayMs);
  const payout = `pout_${site.id.slice(5)}`;
  await em.execute(
    `insert into payout_account (id, account_id, rail, name, status, created_at) values (?, ?, 'connect', 'Shop', 'pending', ?)`,
    [payout, owner.accountId, now],
  );
  const pay = (id: string, status: string) =>
    em.execute(
      `insert into payment (id, site_id, payout_account_id, amount, currency, status, expires_at, paid_at, created_at)
       values (?, ?, ?, 100, 'EUR', ?, ?, ?, ?)`,
      [id, site.id, payout, status, later, status === 'open' ? null : now, now],
    );
  await pay(`pay_a${site.id.slice(6)}`, 'open');
  await pay(`pay_b${site.id.slice(6)}`, 'refunding');
  const paid = `pay_c${site.id.slice(6)}`;
  await pay(paid, 'paid');
  const calendar = `cal_${site.id.slice(5)}`;
  await em.execute(
    `insert into calendar (id, site_id, key, name, position, capacity, time_zone, hours, exceptions, created_at)
     values (?, ?, 'a', 'A', 0, 9, 'UTC', '[]', '[]', ?)`,
    [calendar, site.id, now],
  );
  for (const [index, start] of [now.getTime() - dayMs, later.getTime()].entries())
    await em.execute(
      `insert into booking (id, site_id, calendar_id, reference, status, service_key, service_name, starts_at, ends_at, busy_from, busy_until,
         seats, visitor_name, visitor_hash, intake, cancel_hash, created_at)
       values (?, ?, ?, ?, 'confirmed', 'talk', 'Talk', ?, ?, ?, ?, 1, 'Ada', '\\x01', '[]', ?, ?)`,
      [
        `book_${index}${site.id.slice(6)}`,
        site.id,
        calendar,
        `REF${index}`,
        new Date(start),
        new Date(start + 3600_000),
        new Date(start),
        new Date(start + 3600_000),
        Buffer.from(`${site.id}${index}`),
        now,
      ],
    );
  await em.execute('update booking set payment_id = ? where id = ?', [paid, `book_1${site.id.slice(6)}`]);
  await em.execute(
    `insert into domain (id, account_id, name, registrable, mode, status, status_since, proof, pair, created_at, next_check_at, proved_at, attached_at, site_id)
     values (?, ?, ?, ?, 'cname', 'pending', ?, 'p', 'p', ?, ?, ?, ?, ?)`,
    [
      ...[`dom_${site.id.slice(5)}`, owner.accountId, `www.${site.name}.example`, `${site.name}.example`],
      ...[now, now, now, now, now, site.id],
    ],
  );
  const fields = [{ name: 'name', label: 'Name', kind: 'text', required: true }];
  await owner.call('POST', path(site, '/forms'), { body: { name: 'Contact', fields } });
}

test('archiving and deleting a site name all that remains or is lost', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await fill(owner, site);

  const { body: archived } = await owner.call('POST', path(site, '/archive'));
  expect(archived.next_action).toContain(
    'still has 1 open payment, 1 payment that is being refunded and 1 future booking (1 of them paid)',
  );
  expect(archived.next_action).toMatch(/GET \S+\/bookings\?status=confirmed.*POST \/v1\/bookings\/book_…\/cancel/);
  expect((await owner.call('POST', path(site, '/archive'))).body).toEqual(archived);

  const refused = errorOf(await owner.call('DELETE', path(site, '?confirm=true')));
  expect(refused.code).toBe('confirm_required');
  expect(refused.message).toContain(
    '1 open payment, 1 payment that is being refunded and 1 future booking (1 of them paid)',
  );
  expect(refused.message).toContain('repositories, versions and 1 form.');
  expect(refused.message).toContain(`The domain www.${site.name}.example shows nothing then`);
  expect(refused.next_action).toContain('?confirm=true&discard=true');
  const headers = { 'user-agent': 'frontage-client/1 node/24' };
  const inTerminal = errorOf(await owner.call('DELETE', path(site, '?confirm=true'), { headers }));
  expect(inTerminal.next_action).toContain(`\`frontage site delete ${site.id} --confirm true --discard true\`:`);
  expect((await owner.call('DELETE', path(site, '?confirm=true&discard=true'))).body.status).toBe('deleting');
  const [payment] = await fixture.deps
    .em()
    .execute<{ status: string }[]>('select status from payment where id like ?', ['pay_a%']);
  expect(payment?.status).toBe('expired');
});

test('archiving a site that nothing waits for has no next step', async () => {
  const owner = await fixture.newCaller();
  const { body } = await owner.call('POST', path(await createSite(owner), '/archive'));
  expect([body.status, body.next_action]).toEqual(['archived', undefined]);
});
