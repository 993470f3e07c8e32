import { afterAll, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { callWith } from '#test/api/world.ts';
import { createMailWorld } from '#test/mail/world.ts';

const world = await createMailWorld();
afterAll(() => world.close());

test('a mail whose link is over when the mail server is back is not sent, and the next one is', async () => {
  const ask = (email: string) =>
    callWith(world.url)('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude' } });
  await world.stopMailServer();
  expect((await ask('late@example.com')).status).toBe(200);
  world.skip(15 * 60_000);
  await world.startMailServer();
  expect((await ask('soon@example.com')).status).toBe(200);
  const statuses = async () =>
    (await world.deps.em().find(Mail, {}, { orderBy: { id: 'asc' } })).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 25_000, interval: 100 }).toEqual(['failed', 'sent']);
  expect(world.mailsTo('late@example.com')).toEqual([]);
  expect(world.mailsTo('soon@example.com')).toHaveLength(1);
});
