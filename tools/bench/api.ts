/**
 * Latency of the API's twenty commonest calls at 200 calls a second, in an even mix, on one process of a whole system:
 * each is sent at its time, whether or not earlier ones have ended, and its latency counts from that time. Then the first
 * call after a start of the API, against the tenth. `--quick` measures few, `FRONTAGE_RATE` is another number of calls.
 */
import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersTo, openSites, openThread, startOf, type Tended } from './hour/load.ts';
import { median, percentile } from './measure.ts';
import { type Fixture, openFixture } from './publish-fixture.ts';

const quick = process.argv.includes('--quick');
const perSecond = Number(process.env.FRONTAGE_RATE ?? 200);
const seconds = quick ? 3 : 30;
/** Of each call, before anything is measured: code is compiled, and lists have rows. */
const warmUps = quick ? 5 : 40;
const starts = quick ? 1 : 5;
/** Each response contains the whole thread. */
const repliesOfThread = 10;

type Sent = { method?: string; path: string; body?: unknown };
type Calls = Record<string, (n: number) => Sent>;
type Send = (sent: Sent) => Promise<void>;

/** Returns the section of the results. */
export async function benchApi(): Promise<string> {
  const load = (loadavg()[0] as number).toFixed(1);
  const fixture = await openFixture({ FRONTAGE_CHALLENGE_ROUNDS: '1000' });
  try {
    const [site] = (await openSites(fixture, 1)) as [Tended];
    const rounds = warmUps + (perSecond * seconds) / 20;
    const calls = await callsOf(fixture, site, rounds);
    const { send, close } = openClient(fixture, site.token);
    for (let n = 0; n < warmUps; n++) for (const one of Object.values(calls)) await send(one(n));
    const times = await sendAtFixedRate(calls, send);
    close();
    const first = await measureStarts(fixture, site, calls);
    return [
      `${perSecond} calls a second for ${seconds} s on one API process; load average ${load} before. Milliseconds from a call’s time to the end of its response.`,
      reportTimes(times),
      `The first call after a start of the API, and the tenth; medians of ${starts}.`,
      reportStarts(first),
    ].join('\n\n');
  } finally {
    await fixture.stop();
  }
}

/** What agents, owners and visitors call most in a day. `rounds`: how often each is sent. */
async function callsOf(fixture: Fixture, site: Tended, rounds: number): Promise<Calls> {
  const { id, form, timetable, call } = site;
  const at = `/v1/sites/${id}`;
  const { items: deployments } = await call(`${at}/deployments`);
  const threads: { id: string }[] = [];
  for (let n = 0; n < rounds; n += repliesOfThread) threads.push(await openThread(fixture, site));
  const answers: unknown[] = [];
  for (let n = 0; n < rounds; n++) answers.push(await answersTo(fixture, site));
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return {
    'read the account': () => ({ path: '/v1/account' }),
    'list sites': () => ({ path: '/v1/sites' }),
    'read a site': () => ({ path: at }),
    'change a site': (n) => ({ method: 'PATCH', path: at, body: { title: `Bench ${n}` } }),
    'list deployments': () => ({ path: `${at}/deployments` }),
    'read a deployment': () => ({ path: `/v1/deployments/${deployments[0].id}` }),
    'read a file': () => ({ path: `${at}/files?path=package.json` }),
    'list previews': () => ({ path: `${at}/previews` }),
    'list domains': () => ({ path: '/v1/domains' }),
    'read the history': () => ({ path: `${at}/history` }),
    'read analytics': () => ({ path: `${at}/analytics?period=7d` }),
    'read the inbox': () => ({ path: '/v1/inbox' }),
    'list comments': () => ({ path: `${at}/comments` }),
    'reply to a comment': (n) => {
      const { id = '' } = threads[Math.floor(n / repliesOfThread)] ?? {};
      return { path: `/v1/comments/${id}/reply`, body: { message: `Reply ${n}.` } };
    },
    'list submissions': () => ({ path: `/v1/forms/${form}/submissions` }),
    'submit a form': (n) => ({ path: `/f/${form}`, body: answers[n] }),
    'list days': () => ({ path: `/b/${timetable}/days?service=talk` }),
    'list slots': (n) => ({ path: `/b/${timetable}/slots?service=talk&date=${day(2 + (n % 60))}` }),
    'create a booking': (n) => ({ path: `/b/${timetable}`, body: bookingOf(n) }),
    'list bookings': () => ({ path: `${at}/bookings` }),
  };
}

/** Of a visitor of their own, in the next days. */
function bookingOf(n: number) {
  return { service: 'talk', start: startOf(n), visitor: { name: 'Ada', email: `ada-${n}@example.com` } };
}

/** Calls over kept connections. A response other than a success is an error. */
function openClient({ stack }: Fixture, token: string): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(stack.baseUrl);
  const send: Send = ({ path, body, method = body === undefined ? 'GET' : 'POST' }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const authorization = path.startsWith('/v1/') ? { authorization: `Bearer ${token}` } : {};
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...authorization };
    const sent = request({ agent, hostname, port, path, method, headers }, (answer) => {
      text(answer).then((body) => {
        if (answer.statusCode === 200) return resolve();
        reject(new Error(`${method} ${path} returned ${answer.statusCode}: ${body}`));
      }, reject);
    });
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  };
  return { send, close: () => agent.destroy() };
}

/** Sends the calls in turn. Returns the latencies of each. */
async function sendAtFixedRate(calls: Calls, send: Send): Promise<Map<string, number[]>> {
  const names = Object.keys(calls);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  const began = performance.now() + 100;
  const sent: Promise<void>[] = [];
  const failures: unknown[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = began + (n * 1000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    const name = names[n % names.length] as string;
    const one = calls[name]?.(warmUps + Math.floor(n / names.length)) as Sent;
    const measured = send(one).then(() => void times.get(name)?.push(performance.now() - due));
    sent.push(measured.catch((error) => void failures.push(error)));
  }
  await Promise.all(sent);
  if (failures.length > 0) throw new Error(`${failures.length} of ${sent.length} calls failed`, { cause: failures[0] });
  return times;
}

const atStart = ['read the account', 'list sites', 'read a site', 'list deployments', 'list slots'];

/** Starts the API for each call, so that no other call has prepared anything for it. Milliseconds of the first and the tenth. */
async function measureStarts(fixture: Fixture, { token }: Tended, calls: Calls) {
  const measured = new Map<string, { first: number[]; tenth: number[] }>();
  for (let n = 0; n < starts; n++) {
    for (const name of atStart) {
      await fixture.stack.restart('api');
      const { send, close } = openClient(fixture, token);
      const times: number[] = [];
      for (let call = 0; call < 10; call++) {
        const began = performance.now();
        await send(calls[name]?.(call) as Sent);
        times.push(performance.now() - began);
      }
      close();
      const { first, tenth } = measured.get(name) ?? { first: [], tenth: [] };
      measured.set(name, { first, tenth });
      first.push(times[0] as number);
      tenth.push(times[9] as number);
    }
  }
  return measured;
}

function reportTimes(times: Map<string, number[]>): string {
  const row = (name: string, some: number[]) =>
    `| ${[name, ...[0.5, 0.95, 0.99].map((part) => percentile(some, part).toFixed(1))].join(' | ')} |`;
  const rows = [...times].map(([name, some]) => row(name, some));
  return ['| | p50 | p95 | p99 |', '| --- | --- | --- | --- |', ...rows, row('all', [...times.values()].flat())].join(
    '\n',
  );
}

function reportStarts(measured: Awaited<ReturnType<typeof measureStarts>>): string {
  const rows = [...measured].map(([name, { first, tenth }]) => {
    return `| ${name} | ${median(first).toFixed(1)} | ${median(tenth).toFixed(1)} |`;
  });
  return ['| | first | tenth |', '| --- | --- | --- |', ...rows].join('\n');
}
