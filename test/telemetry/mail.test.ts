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
  const refused = ({ msg }: { msg?: unknown }) => msg === 'an e-mail could not be sent yet';
  const seen = await until(lines, (some) => some.some(refused));
  refusing.delete(to);
  // The site's owner receives an e-mail about the invitation too.
  const { mailId } = seen.find(refused) ?? {};
  const all = await until(lines, (some) =>
    some.some((line) => line.workflowId === `mail:${mailId}` && line.msg === 'activity completed'),
  );
  expect(all.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['request completed', 'an e-mail could not be sent yet', 'an e-mail was sent']),
  );
  const sent = all.find((line) => line.msg === 'an e-mail was sent' && line.mailId === mailId);
  expect(sent).toMatchObject({ workflowId: `mail:${mailId}`, resource: mailId, activity: 'sendMail' });
  expect(sent?.attempt).toBeGreaterThan(1);
});
