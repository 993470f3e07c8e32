/** API processes and a worker are killed in the middle of enquiries: what was answered as taken is there, and every mail follows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#runtime/clock.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { challengeEnv, forms, solve } from '#test/forms/fixture.ts';
import { openProcesses, type Processes } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { freePort } from '#tools/local/ports.ts';
import { sized } from './size.ts';

let catcher: Awaited<ReturnType<typeof startMailCatcher>>;
let fixture: Fixture;
let processes: Processes;
beforeAll(async () => {
  catcher = await startMailCatcher({ clock: systemClock });
  const env = { ...challengeEnv, FRONTAGE_SMTP_URL: catcher.smtpUrl };
  fixture = await createFixture({
    ...env,
    FRONTAGE_RATE_SCALE: '1000000',
    TEMPORAL_NAMESPACE: await createNamespace(),
  });
  processes = openProcesses(fixture, { ...env });
});
afterAll(async () => {
  processes?.close();
  await fixture?.close();
  await catcher?.close();
});

const visitors = 8;
const enquiriesEach = sized({ short: 48, long: 1000 }) / visitors;

test('after any kill during submissions, accepted ones are stored and mailed', async () => {
  const ask = forms(fixture);
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner);
  const to = await ask.emailOf(owner);
  const port = await freePort();
  let api = await processes.startApi(port);
  let worker = await processes.startWorker();
  const taken: string[] = [];
  let unanswered = 0;
  const url = `http://127.0.0.1:${port}/f/${form.id}`;
  async function enquire(name: string): Promise<boolean> {
    try {
      const challenge = await (await fetch(`${url}/challenge`)).json();
      const body = JSON.stringify({ name, email: 'ada@example.com', altcha: await solve(challenge) });
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      if (answer.status === 200) taken.push(((await answer.json()) as { id: string }).id);
      else throw new Error(`answered ${answer.status}`);
      return true;
    } catch (error) {
      if ((error as Error).message.startsWith('answered')) throw error;
      unanswered += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return false;
    }
  }
  const sending = Array.from({ length: visitors }, async (_, visitor) => {
    for (let at = 0; at < enquiriesEach; at++) while (!(await enquire(`${visitor}/${at}`)));
  });
  const quarter = (visitors * enquiriesEach) / 4;
  for (const part of [1, 2, 3]) {
    await until(
      async () => taken.length,
      (length) => length >= part * quarter,
    );
    if (part === 2) await processes.killed(worker);
    await processes.killed(api);
    api = await processes.startApi(port);
  }
  await Promise.all(sending);
  expect(unanswered).toBeGreaterThan(0);

  const rows = async () =>
    await fixture.deps
      .em()
      .execute<{ id: string; status: string }[]>(
        'select s.id, m.status from submission s join mail m on m.id = s.mail_id where form_id = ?',
        [form.id],
      );
  const stored = (await rows()).map(({ id }) => id);
  // One whose answer was lost may be there too; nothing that was promised is not.
  expect(taken.filter((id) => !stored.includes(id))).toEqual([]);
  expect(taken).toHaveLength(visitors * enquiriesEach);
  expect(stored.length).toBeLessThanOrEqual(taken.length + unanswered);

  worker = await processes.startWorker();
  await until(rows, (all) => all.every(({ status }) => status === 'sent'), 100_000);
  const ids = catcher.messages(to).map(({ headers }) => headers['message-id']);
  expect(new Set(ids).size).toBe(stored.length);
  // Twice at most what the dead worker had in hand.
  expect(ids.length - stored.length).toBeLessThanOrEqual(25);
}, 600_000);
