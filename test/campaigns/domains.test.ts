/**
 * Domains of many owners at once, by a DNS that does not answer each one's first questions.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDomainFixture, type DomainFixture, type Shown } from '#test/domains/fixture.ts';
import { sized } from './size.ts';

const count = sized({ short: 12, long: 50 });

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

test('each domain becomes active without calls, however many SERVFAIL responses come first', async () => {
  const owners = await Promise.all(Array.from({ length: Math.ceil(count / 10) }, () => fixture.newCaller()));
  const failures = new Map<string, number>();
  fixture.dns.fault = ({ name }) => {
    const domain = [...failures.keys()].find((one) => name === one || name.endsWith(`.${one}`));
    const left = domain === undefined ? 0 : (failures.get(domain) ?? 0);
    if (domain === undefined || left === 0) return undefined;
    failures.set(domain, left - 1);
    return 'SERVFAIL';
  };
  const brought = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const owner = owners[at % owners.length] ?? owners[0];
      const mode = at % 2 === 0 ? ('nameservers' as const) : ('cname' as const);
      const body = { domain: `many-${process.pid}-${at}.test`, mode };
      const { body: shown } = await (owner as NonNullable<typeof owner>).call('POST', '/v1/domains', {
        body,
        headers: { prefer: 'respond-async' },
      });
      // Whole looks: each question of one is asked twice.
      failures.set(shown.domain, (at % 3) * 16);
      fixture.setUp(shown);
      return shown as Shown;
    }),
  );
  const active = async () => {
    const lists = await Promise.all(owners.map((owner) => owner.call('GET', '/v1/domains?status=active&limit=200')));
    return lists.flatMap(({ body }) => body.items).length;
  };
  await expect.poll(active, { timeout: 120_000, interval: 500 }).toBe(brought.length);
}, 180_000);
