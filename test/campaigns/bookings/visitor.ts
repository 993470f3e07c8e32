/** A process with many visitors: each books one seat, pays for it or not, retries under the same key, and reports what it was told. */
import { randomUUID } from 'node:crypto';
import { addressOf, type Orders, type Told } from './orders.ts';

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const chance = (share: number) => Math.random() < share;
const briefly = () => new Promise((resolve) => setTimeout(resolve, 20));

async function attempt(orders: Orders): Promise<Told> {
  const { urls, publicId, calendars, starts, paidShare } = orders;
  const name = `V ${randomUUID()}`;
  const [start, calendar, service] = [pick(starts), pick(calendars), chance(paidShare) ? 'paid' : 'talk'];
  const body = JSON.stringify({ service, calendar, start, visitor: { name, email: addressOf(name) } });
  const headers = { 'content-type': 'application/json', 'idempotency-key': name.slice(2) };
  for (;;) {
    const answer = await fetch(`${pick(urls)}/b/${publicId}`, { method: 'POST', headers, body })
      .then(async (response) => ({ status: response.status, body: (await response.json()) as Answered }))
      .catch(() => undefined);
    // No answer, or one that says that the same call can succeed later: it is sent again.
    if (!answer || answer.body.error?.retryable) {
      await briefly();
      continue;
    }
    const { id = '', pay_url: payUrl, error } = answer.body;
    const pays = payUrl ? await pay(urls, new URL(payUrl).pathname) : 0;
    return { name, service, status: answer.status, code: error?.code ?? '', id, start, calendar, pays };
  }
}
type Answered = { id?: string; pay_url?: string | null; error?: { code: string; retryable: boolean } };

/** Opens the link, and pays, mostly once, now and then after a declined card, by two presses at once, or not at all. */
async function pay(urls: string[], path: string): Promise<number> {
  if (chance(0.15)) return 0;
  const page = await openPage(urls, path);
  if (page === null || chance(0.15)) return 0;
  const press = (act: string) =>
    fetch(`${page}/${act}`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ email: '' }) });
  if (chance(0.2)) await press('decline');
  const pressed = await Promise.all(Array.from({ length: chance(0.2) ? 2 : 1 }, () => press('pay')));
  const taken = pressed.filter(({ status }) => status === 303);
  const back = taken[0]?.headers.get('location');
  // Some close the window instead of returning.
  if (back && chance(0.6)) await fetch(`${pick(urls)}${new URL(back).pathname}`).catch(() => undefined);
  return taken.length;
}

/** The provider's page that the link leads to; null once the link is over. */
async function openPage(urls: string[], path: string): Promise<string | null> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${pick(urls)}${path}`, { redirect: 'manual' }).catch(() => undefined);
    if (answer && answer.status < 500) return answer.headers.get('location');
    await briefly();
  }
  throw new Error('the payment link gives no page');
}

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
  process.send?.({ done: told.length, told }, () => process.disconnect());
}
