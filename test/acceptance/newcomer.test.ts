/**
 * An agent that knows only an address creates its owner's site with the terminal client and git alone.
 * @module-tag chromium
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { visit } from '#test/certificates/visit.ts';
import { useStack } from '#test/stack/stack.ts';
import { letIn, newTerminal, type Ran } from './terminal.ts';

const stack = useStack();
const name = `newcomer-${randomBytes(4).toString('hex')}`;
const email = `${name}@example.com`;
/** All that it knows comes from here. */
const llms = await (await fetch(`${stack.baseUrl}/llms.txt`)).text();
const { home, run, git, close } = await newTerminal(/\((\S+\/frontage\.mjs)\)/.exec(llms)?.[1] ?? '');
afterAll(close);

const folder = join(home, name);
/** What its owner tells it, and what no template says. */
const phone = '+49 30 901820';
const site = () => stack.visit(name, '/');
const done = ({ exit, err, body }: Ran) => {
  expect([exit, err]).toEqual([0, '']);
  return body;
};
async function keep(file: string, content: unknown): Promise<string> {
  await writeFile(join(home, file), JSON.stringify(content));
  return `@${join(home, file)}`;
}

test('the agent reads the public guide, and gets access after the owner’s e-mailed approval', async () => {
  const skill = await (await fetch(/\((\S+\/SKILL\.md)\)/.exec(llms)?.[1] ?? '')).text();
  expect(skill).toContain('node frontage.mjs login --email owner@example.com --no-wait');
  expect((await run(['site', 'list'])).exit).toBe(4);
  const login = ['login', '--email', email, '--name', 'Newcomer', '--no-wait'];
  const asked = await run(login);
  expect([asked.exit, asked.err]).toEqual([4, expect.stringContaining(`${email}) will receive an e-mail`)]);
  await letIn(stack.mailUrl, email, /The code is (\S+)\./.exec(asked.err)?.[1] ?? '');
  expect((await run(login)).out).toContain(email);
});

test('the agent creates a site from a template, changes its clone, and publishes it', async () => {
  expect(done(await run(['template', 'list', '--json'])).items).toContainEqual(
    expect.objectContaining({ name: 'business' }),
  );
  done(await run(['site', 'create', '--name', name, '--title', 'The kiln', '--template', 'business', '--json']));
  expect((await run(['clone', name])).exit).toBe(0);
  const facts = JSON.parse(await readFile(join(folder, 'src/site.json'), 'utf8'));
  await writeFile(join(folder, 'src/site.json'), JSON.stringify({ ...facts, phone }));
  await mkdir(join(folder, 'docs'), { recursive: true });
  await writeFile(join(folder, 'docs/facts.md'), `phone: ${phone}, from the owner\n`);
  await git(folder, 'add', '.');
  await git(folder, 'commit', '-qm', 'Say the phone number');
  await git(folder, 'push', '-q');
  const published = await run(['publish', name]);
  expect([published.exit, published.err]).toEqual([0, expect.stringContaining('✓ Version 1 is live')]);
  const { text } = await site();
  expect([text, text]).toEqual([expect.stringContaining('The kiln'), expect.stringContaining(phone)]);
});

test('the agent adds a form and timetable, previews them, answers a comment, and publishes', async () => {
  const fields = await keep('fields.json', [{ name: 'name', label: 'Your name', kind: 'text', required: true }]);
  const form = done(await run(['form', 'create', name, '--name', 'Contact', '--fields', fields, '--json']));
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const hours = [{ days, from: '09:00', to: '17:00' }];
  const calendar = { key: 'kiln', name: 'The kiln', capacity: 2, time_zone: 'Europe/Berlin', hours };
  const service = { key: 'hour', name: 'An hour', duration_minutes: 60, calendar_keys: ['kiln'] };
  const calendars = await keep('calendars.json', [calendar]);
  const services = await keep('services.json', [service]);
  done(await run(['bookable', 'declare', name, '--calendars', calendars, '--services', services, '--json']));

  const facts = JSON.parse(await readFile(join(folder, 'src/site.json'), 'utf8'));
  const bookings = { ...facts.bookings, open: true };
  await writeFile(join(folder, 'src/site.json'), JSON.stringify({ ...facts, form: form.action_url, bookings }));
  await git(folder, 'commit', '-qam', 'Take enquiries and bookings');
  await git(folder, 'push', '-q', 'origin', 'HEAD:preview/1');
  const shown = await run(['preview', name, '1']);
  expect([shown.exit, shown.err]).toEqual([0, expect.stringMatching(/building.*✓ Preview slot 1 is at /is)]);
  const slot = done(await run(['preview', 'read', name, '1', '--json']));
  const [label = ''] = new URL(slot.address).hostname.split('.');
  expect((await stack.visit(label, '/contact/')).text).toContain(form.id);

  const link = done(await run(['review', 'create', name, '--slot', '1', '--json']));
  const waiting = run(['inbox', 'read', '--wait', '50', '--json']);
  const said = await fetch(`${stack.baseUrl}/review/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-review': link.url.split('/').at(-1) },
    body: JSON.stringify({ page: '/contact/', body: 'Ask for the phone number too.', position: {} }),
  });
  expect(said.status).toBe(200);
  expect(done(await waiting).items).toMatchObject([{ kind: 'open_comment' }]);
  const [thread] = done(await run(['comment', 'list', name, '--status', 'open', '--json'])).items;
  expect(JSON.stringify(thread)).toContain('Ask for the phone number too.');
  done(await run(['comment', 'reply', thread.id, '--message', 'It asks for it now.', '--json']));
  done(await run(['comment', 'write', name, '--thread-id', thread.id, '--action', 'resolve', '--json']));

  const live = done(await run(['preview', 'publish', name, '1', '--json']));
  expect([live.status, (await stack.visit(name, '/contact/')).text]).toEqual([
    'live',
    expect.stringContaining(form.id),
  ]);
  expect((await stack.visit(name, '/book/')).text).toContain('frontage-booking');
});

test('the agent adds its owner’s domain, names the records to set, and attaches it', {
  tags: ['pebble', 'powerdns'],
}, async () => {
  const host = `${name}.test`;
  const onboarded = await run(['domain', 'onboard', '--domain', host, '--mode', 'cname', '--json']);
  expect([onboarded.exit, onboarded.body.setup.length > 0]).toEqual([4, true]);
  await fetch(stack.registrarUrl ?? '', { method: 'POST', body: onboarded.out });
  const { id } = onboarded.body;
  const states = async () => {
    const { status, ssl } = (await run(['domain', 'read', id, '--json'])).body;
    return [status, ssl.status];
  };
  await expect.poll(states, { timeout: 90_000, interval: 500 }).toEqual(['active', 'active']);
  const { id: siteId } = done(await run(['site', 'read', name, '--json']));
  const attached = await run(['domain', 'attach', id, '--site-id', siteId, '--json']);
  expect([attached.exit, attached.body.next_action]).toEqual([
    0,
    expect.stringContaining('Publish the site again with'),
  ]);
  expect((await run(['publish', name])).exit).toBe(0);
  expect(done(await run(['domain', 'read', id, '--json'])).site_id).toBe(siteId);
  const root = await readFile(join(stack.dataDir, 'authority', 'roots.pem'), 'utf8');
  const trip = { port: Number(stack.env.FRONTAGE_EDGE_TLS_PORT), host, root };
  await expect.poll(async () => (await visit('/', trip)).text, { timeout: 20_000 }).toContain(phone);
});
