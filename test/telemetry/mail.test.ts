/** Log lines of a mail, from the call that caused it to its delivery. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { people } from '#test/invitations/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { until } from '#test/stack/until.ts';

const refusing = new Map<string, number>();
let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture({ recipient: (address) => refusing.get(address) });
}, 60_000);
afterAll(() => fixture?.close());

test('log lines of a mail, even a retried one, contain its request’s id', async () => {
  const to = 'guest@example.com';
  refusing.set(to, 451);
  const ask = people(fixture);
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const { headers } = await ask.invite(owner, site.id, to);
  const reqId = headers.get('x-request-id');
  const lines = () => fixture.logged.filter((line) => line.reqId === reqId);
  await until(lines, (some) => some.some(({ msg }) => msg === 'an e-mail could not be sent yet'));
  refusing.delete(to);
  const all = await until(lines, (some) =>
    some.some(({ activity, msg }) => activity === 'sendMail' && msg === 'activity completed'),
  );
  expect(all.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['request completed', 'an e-mail could not be sent yet', 'an e-mail was sent']),
  );
  const sent = all.find(({ msg }) => msg === 'an e-mail was sent');
  expect(sent).toMatchObject({ workflowId: `mail:${sent?.mailId}`, resource: sent?.mailId, activity: 'sendMail' });
  expect(sent?.attempt).toBeGreaterThan(1);
});
