/**
 * An hour of activity by owners, agents and visitors, each kind at its own rate. Failures are recorded, never retried.
 */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { BenchSite, Fixture } from '#tools/bench/publish-fixture.ts';
import { post } from '#tools/bench/publish-sites.ts';
import { callApi } from '#tools/local/client.ts';
import { openAccount } from '#tools/local/owner.ts';

const run = promisify(execFile);
type Call = Fixture['call'];
export type Tended = BenchSite & { call: Call; token: string; form: string; timetable: string; review: string };
export type Done = Record<string, { done: number; failed: string[] }>;

/** Sites of separate accounts, because publishes per account are limited. */
export async function openSites(fixture: Fixture, count: number): Promise<Tended[]> {
  const sites: Tended[] = [];
  for (let n = 0; n < count; n++) {
    const email = `hour-${randomBytes(6).toString('hex')}@example.com`;
    const { access_token: token } = await openAccount(fixture.stack.env, email, 'Hour');
    const call: Call = async (path, body, headers = {}) => {
      const answer = await callApi(fixture.stack.baseUrl, path, { token, body, headers });
      if (answer.status !== 200) throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    const site = await fixture.newSite(call, 'blog');
    const at = `/v1/sites/${site.id}`;
    const fields = [{ name: 'email', label: 'Your address', kind: 'email', required: true }];
    const form = await call(`${at}/forms`, { name: 'Contact', fields });
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const hours = [{ days, from: '00:00', to: '24:00' }];
    const calendars = [{ key: 'room', name: 'Room', capacity: 50, time_zone: 'Europe/Berlin', hours }];
    const services = [
      { key: 'talk', name: 'A talk', duration_minutes: 60, calendar_keys: ['room'], horizon_days: 365 },
    ];
    const bookable = await call(`${at}/bookable`, { calendars, services });
    await call(`${at}/publish`, { scope: 'site' }, { prefer: 'wait=120' });
    const link = await call(`${at}/review-links`, {});
    const review = link.url.split('/').at(-1);
    sites.push({ ...site, call, token, form: form.id, timetable: bookable.public_id, review });
  }
  return sites;
}

/** A request as a browser or a visitor's agent sends it, without a token. */
async function send(fixture: Fixture, path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await callApi(fixture.stack.baseUrl, path, { body, headers });
  if (answer.status !== 200) throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A visitor's answers to the form, with a solved challenge. */
export async function answersTo(fixture: Fixture, { form }: Tended) {
  const { body: challenge } = await callApi(fixture.stack.baseUrl, `/f/${form}/challenge`, {});
  const solution = await solveChallenge({ challenge: challenge as Challenge, deriveKey });
  const altcha = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
  return { email: 'ada@example.com', altcha };
}

/** An hour of the next three months, another one for each booking. */
export function startOf(n: number): string {
  return new Date(Math.ceil(Date.now() / 3_600_000 + 24 + (n % 2_000)) * 3_600_000).toISOString();
}

/** The site cancels every other booking. */
async function book(fixture: Fixture, { timetable, call }: Tended, n: number): Promise<void> {
  const visitor = { name: 'Ada', email: 'ada@example.com' };
  const booking = { service: 'talk', calendar: 'room', start: startOf(n), visitor };
  const { id } = await send(fixture, `/b/${timetable}`, booking, { 'idempotency-key': randomUUID() });
  if (n % 2 === 0) await call(`/v1/bookings/${id}/cancel`, {});
}

/** A reviewer's new thread. */
export async function openThread(fixture: Fixture, { review }: Tended): Promise<{ id: string }> {
  const said = { page: '/', body: 'Larger, please.', position: {} };
  return (await send(fixture, '/review/threads', said, { 'x-review': review })).thread;
}

async function comment(fixture: Fixture, site: Tended): Promise<void> {
  const { id, call } = site;
  const thread = await openThread(fixture, site);
  await call(`/v1/comments/${thread.id}/reply`, { message: 'It is larger now.' });
  await call(`/v1/sites/${id}/comments`, { thread_id: thread.id, action: 'resolve' });
}

async function clone(site: Tended, dir: string): Promise<void> {
  const folder = join(dir, `clone-${randomUUID()}`);
  const { stdout } = await run('git', ['-C', site.content, 'remote', 'get-url', 'origin']);
  await run('git', ['clone', '-q', stdout.trim(), folder]);
  await rm(folder, { recursive: true, force: true });
}

/** Pushes, publishes, and waits until a visitor sees the change. */
async function publish(fixture: Fixture, site: Tended, n: number): Promise<void> {
  const mark = `in-the-hour-${n}`;
  await fixture.push(site.content, { 'posts/post-1.md': post(1, mark) });
  const { status } = await site.call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=120' });
  // Superseded by a restore that was requested meanwhile.
  if (status === 'superseded') return;
  if (status !== 'live') throw new Error(`a publish ended with the status ${status}`);
  await fixture.visible(site, '/posts/post-1/', mark, 10_000);
}

async function restore({ id, call }: Tended): Promise<void> {
  const { items } = await call(`/v1/sites/${id}/deployments?limit=5`);
  const retired = items.find(({ status }: { status: string }) => status === 'retired');
  if (retired) await call(`/v1/deployments/${retired.id}/restore`, {});
}

async function look(fixture: Fixture, site: Tended, n: number): Promise<void> {
  const path = ['/', '/posts/', `/nowhere-${n % 100}/`][n % 3] as string;
  await fixture.visible(site, path, '<html', 10_000);
}

async function readAround({ id, form, call }: Tended): Promise<void> {
  for (const path of ['/v1/account', `/v1/sites/${id}`, `/v1/forms/${form}/submissions`, '/v1/inbox?wait=1'])
    await call(path);
  await call(`/v1/sites/${id}/analytics?period=7d`);
}

/** Runs until `end`. `done` is updated while it runs. */
export function keepBusy(fixture: Fixture, sites: Tended[], end: number): { done: Done; over: Promise<void> } {
  const acts: Record<string, { everyMs: number; act: (site: Tended, n: number) => Promise<void> }> = {
    visits: { everyMs: 150, act: (site, n) => look(fixture, site, n) },
    'API reads': { everyMs: 2_500, act: (site) => readAround(site) },
    enquiries: {
      everyMs: 6_000,
      act: async (site) => await send(fixture, `/f/${site.form}`, await answersTo(fixture, site)),
    },
    bookings: { everyMs: 8_000, act: (site, n) => book(fixture, site, n) },
    comments: { everyMs: 12_000, act: (site) => comment(fixture, site) },
    clones: { everyMs: 10_000, act: (site) => clone(site, fixture.dir) },
    'pushes and publishes': { everyMs: 25_000, act: (site, n) => publish(fixture, site, n) },
    restores: { everyMs: 130_000, act: (site) => restore(site) },
  };
  const done: Done = {};
  const loops = Object.entries(acts).map(async ([name, { everyMs, act }]) => {
    const of = { done: 0, failed: [] as string[] };
    done[name] = of;
    for (let n = 0; Date.now() < end; n++) {
      const next = Date.now() + everyMs;
      await act(sites[n % sites.length] as Tended, n).then(
        () => (of.done += 1),
        (error: Error) => of.failed.push(error.message),
      );
      await sleep(Math.max(0, next - Date.now()));
    }
  });
  return { done, over: Promise.all(loops).then(() => {}) };
}
