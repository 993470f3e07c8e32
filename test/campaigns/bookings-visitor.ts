/** A process with many visitors: each books one seat, retries under the same key, and reports its response. */
import { randomUUID } from 'node:crypto';

export type Orders = {
  urls: string[];
  publicId: string;
  calendars: string[];
  starts: string[];
  attempts: number;
  atOnce: number;
};
export type Told = { name: string; status: number; code: string; id: string; start: string; calendar: string };

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

async function attempt({ urls, publicId, calendars, starts }: Orders): Promise<Told> {
  const name = `V ${randomUUID()}`;
  const [start, calendar] = [pick(starts), pick(calendars)];
  const visitor = { name, email: `${name.slice(2)}@example.org` };
  const body = JSON.stringify({ service: 'talk', calendar, start, visitor });
  const headers = { 'content-type': 'application/json', 'idempotency-key': name.slice(2) };
  for (;;) {
    const answer = await fetch(`${pick(urls)}/b/${publicId}`, { method: 'POST', headers, body })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as Answered }))
      .catch(() => undefined);
    // No answer, or one that says that the same call can succeed later: it is sent again.
    if (!answer || answer.body.error?.retryable) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    return {
      name,
      status: answer.status,
      code: answer.body.error?.code ?? '',
      id: answer.body.id ?? '',
      start,
      calendar,
    };
  }
}
type Answered = { id?: string; error?: { code: string; retryable: boolean } };

process.once('message', (orders: Orders) => void visit(orders));

async function visit(orders: Orders): Promise<void> {
  let left = orders.attempts;
  const told: Told[] = [];
  const one = async () => {
    while (left-- > 0) {
      told.push(await attempt(orders));
      if (told.length % 20 === 0) process.send?.({ done: told.length });
    }
  };
  await Promise.all(Array.from({ length: orders.atOnce }, one));
  process.send?.({ told });
  process.disconnect();
}
