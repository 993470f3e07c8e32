import { afterAll, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { callWith } from '#test/api/fixture.ts';
import { createMailFixture } from '#test/mail/fixture.ts';

const fixture = await createMailFixture();
afterAll(() => fixture.close());

test('a mail whose link expired during an outage is not sent; the next is', async () => {
  const ask = (email: string) =>
    callWith(fixture.url)('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude' } });
  await fixture.stopMailServer();
  expect((await ask('late@example.com')).status).toBe(200);
  fixture.skip(15 * 60_000);
  await fixture.startMailServer();
  expect((await ask('soon@example.com')).status).toBe(200);
  const statuses = async () =>
    (await fixture.deps.em().find(Mail, {}, { orderBy: { id: 'asc' } })).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 25_000, interval: 100 }).toEqual(['failed', 'sent']);
  expect(fixture.mailsTo('late@example.com')).toEqual([]);
  expect(fixture.mailsTo('soon@example.com')).toHaveLength(1);
});
