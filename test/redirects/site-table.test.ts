/** The edge's copy of all sites: what one process writes, others and later ones read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pino from 'pino';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { SiteRow } from '#edge/routing/database.ts';
import { openSiteTable, type SiteTable } from '#edge/routing/site-table.ts';

const logged: string[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
afterEach(() => void logged.splice(0));

const server = '1';
const site = (id: string, name = id, more: Partial<SiteRow> = {}): SiteRow => ({
  id,
  name,
  status: 'active',
  manifestSha256: 'a'.repeat(64),
  redirectsSha256: null,
  ...more,
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-sites-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'edge', 'sites.db');
}

function open(file: string): SiteTable {
  const table = openSiteTable(file, log);
  onTestFinished(() => table.close());
  return table;
}

/** A table of these sites, complete up to mark 10. */
async function tableOf(file: string, ...sites: SiteRow[]): Promise<SiteTable> {
  const table = open(file);
  table.apply({ mark: '10', server, sites, gone: [] });
  await table.finish({ mark: '10', server }, (id) => sites.some((one) => one.id === id));
  return table;
}

test('a later process finds a site with its redirects by each of its hosts', async () => {
  const file = newFile();
  const shop = site('site_1', 'shop', {
    redirectsSha256: 'b'.repeat(64),
    formerNames: [{ name: 'stall', until: 2_000 }],
    previews: [preview],
    domains: [domain('shop.test')],
  });
  await tableOf(file, shop);
  const later = open(file);
  expect(later.position()).toEqual({ mark: '10', server });
  expect(later.byName('shop')).toEqual(shop);
  expect(later.byFormerName('stall', 1_999)).toEqual(shop);
  expect(later.byFormerName('stall', 2_000)).toBeUndefined();
  expect(later.byLabel('p--1')).toEqual({ site: shop, preview: shop.previews?.[0] });
  expect(later.byDomain('shop.test')).toEqual({ site: shop, domain: shop.domains?.[0] });
  expect(later.byName('stall') ?? later.byLabel('shop') ?? later.byDomain('shop')).toBeUndefined();
});

const preview = { label: 'p--1', slot: 1, manifestSha256: 'c'.repeat(64), expiresAt: '2030-01-01T00:00:00Z' };
const domain = (name: string) => ({
  ...{ name, status: 'active' as const, isPrimary: true, certifiedUntil: null, healthySince: null },
});

test('a changed site leaves its old name, preview hosts and domains', async () => {
  const shop = site('a', 'shop', { previews: [preview], domains: [domain('shop.test')] });
  const table = await tableOf(newFile(), shop);
  expect([table.byName('shop'), table.byLabel('p--1')?.site, table.byDomain('shop.test')?.site]).toEqual(
    Array(3).fill(shop),
  );
  table.apply({ mark: '11', server, sites: [site('a', 'store')], gone: [] }, '10');
  expect([table.byName('shop'), table.byLabel('p--1'), table.byDomain('shop.test')]).toEqual(Array(3).fill(undefined));
  expect(table.byName('store')?.id).toBe('a');
});

test.each([[['old', 'new']], [['new', 'old']]])(
  'a moved domain is its new site’s, whichever is seen first: %s',
  async (order) => {
    const table = await tableOf(newFile(), site('old', 'old', { domains: [domain('moves.test')] }), site('new'));
    expect(table.byDomain('moves.test')?.site.id).toBe('old');
    const rows = { old: site('old'), new: site('new', 'new', { domains: [domain('moves.test')] }) };
    for (const id of order as ('old' | 'new')[]) table.apply({ mark: '11', server, sites: [rows[id]], gone: [] }, '10');
    expect(table.byDomain('moves.test')?.site.id).toBe('new');
    table.apply({ mark: '12', server, sites: [site('new')], gone: [] }, '11');
    expect(table.byDomain('moves.test')).toBeUndefined();
  },
);

test('a moved domain stays its new site’s after an older row', async () => {
  const file = newFile();
  const before = site('old', 'old', { domains: [domain('moves.test')] });
  const table = await tableOf(file, before, site('new'));
  const moved = [site('old'), site('new', 'new', { domains: [domain('moves.test')] })];
  table.apply({ mark: '11', server, sites: moved, gone: [] }, '10');
  // A part of all sites that was read before the domain moved.
  table.apply({ mark: '10', server, sites: [before], gone: [] });
  table.apply({ mark: '11', server, sites: moved, gone: [] }, '10');
  for (const one of [table, open(file)]) expect(one.byDomain('moves.test')?.site.id).toBe('new');
});

test('names that two sites exchange lead to their new sites', async () => {
  const file = newFile();
  const table = await tableOf(file, site('site_1', 'left'), site('site_2', 'right'));
  expect([table.byName('left')?.id, table.byName('right')?.id]).toEqual(['site_1', 'site_2']);
  table.apply({ mark: '11', server, sites: [site('site_1', 'right'), site('site_2', 'left')], gone: [] }, '10');
  for (const one of [table, open(file)])
    expect([one.byName('left')?.id, one.byName('right')?.id]).toEqual(['site_2', 'site_1']);
});

test('a deleted site is gone for all processes', async () => {
  const file = newFile();
  const [one, two] = [await tableOf(file, site('a'), site('b')), open(file)];
  expect([one.byName('a')?.id, two.byName('a')?.id]).toEqual(['a', 'a']);
  one.apply({ mark: '11', server, sites: [], gone: ['a'] }, '10');
  two.position();
  expect([one.byName('a'), two.byName('a'), two.byName('b')?.id]).toEqual([undefined, undefined, 'b']);
});

test('sites that were not read again are removed', async () => {
  const table = await tableOf(newFile(), site('a'), site('b'));
  table.apply({ mark: '3', server: '2', sites: [site('b')], gone: [] });
  expect(table.byName('a')?.id).toBe('a');
  await table.finish({ mark: '3', server: '2' }, (id) => id === 'b');
  expect([table.byName('a'), table.byName('b')?.id, table.position()]).toEqual([
    undefined,
    'b',
    { mark: '3', server: '2' },
  ]);
});

describe('two processes', () => {
  test('one sees what the other wrote, once it polls', async () => {
    const file = newFile();
    const [one, two] = [await tableOf(file, site('a', 'old')), open(file)];
    expect(two.byName('old')?.id).toBe('a');
    one.apply({ mark: '12', server, sites: [site('a', 'new')], gone: [] }, '10');
    expect(two.position()?.mark).toBe('12');
    expect([two.byName('old'), two.byName('new')?.id]).toEqual([undefined, 'a']);
  });

  test('older rows of one lower the mark, so that newer ones are read again', async () => {
    const file = newFile();
    const [quick, slow] = [await tableOf(file, site('a', 'first')), open(file)];
    quick.apply({ mark: '20', server, sites: [site('a', 'third')], gone: [] }, '10');
    slow.apply({ mark: '15', server, sites: [site('a', 'second')], gone: [] }, '10');
    expect(quick.position()?.mark).toBe('15');
    quick.apply({ mark: '25', server, sites: [site('a', 'third')], gone: [] }, '20');
    expect(quick.position()?.mark).toBe('15');
    quick.apply({ mark: '25', server, sites: [site('a', 'third')], gone: [] }, '15');
    expect([quick.position()?.mark, quick.byName('third')?.id]).toEqual(['25', 'a']);
  });

  test('a part of all sites that one reads late lowers the mark too', async () => {
    const file = newFile();
    const [quick, slow] = [await tableOf(file, site('a', 'first')), open(file)];
    quick.apply({ mark: '20', server, sites: [site('a', 'second')], gone: [] }, '10');
    slow.apply({ mark: '12', server, sites: [site('a', 'second')], gone: [] });
    expect(quick.position()?.mark).toBe('20');
    slow.apply({ mark: '12', server, sites: [site('a', 'first')], gone: [] });
    expect(quick.position()?.mark).toBe('12');
  });
});

describe('a disk', () => {
  test('that takes no writes loses no change while the process lives', async () => {
    const file = newFile();
    const table = await tableOf(file, site('a', 'old'), site('b'));
    expect(table.byName('old')?.id).toBe('a');
    const hostile = new DatabaseSync(file);
    hostile.exec(`create trigger full before insert on site begin select raise(abort, 'disk full'); end`);
    const changes = { mark: '11', server, sites: [site('a', 'new')], gone: ['b'] };
    table.apply(changes, '10');
    table.apply(changes, '10');
    expect([table.byName('old'), table.byName('new')?.id, table.byName('b')]).toEqual([undefined, 'a', undefined]);
    expect(table.position()?.mark).toBe('10');
    expect(logged.filter((line) => line.includes('cannot be written'))).toHaveLength(1);
    hostile.exec('drop trigger full');
    hostile.close();
    table.apply(changes, '10');
    expect([open(file).byName('new')?.id, open(file).byName('b'), table.position()?.mark]).toEqual([
      'a',
      undefined,
      '11',
    ]);
  });

  test('with a damaged file gets an empty table', async () => {
    const file = newFile();
    (await tableOf(file, site('a'))).close();
    writeFileSync(file, 'x'.repeat(10_000));
    const table = open(file);
    expect([table.position(), table.byName('a')]).toEqual([undefined, undefined]);
    expect(logged).toEqual(['the table of sites cannot be read, and is made again']);
  });

  test('whose table is made again lacks no site without saying so', async () => {
    const file = newFile();
    const table = await tableOf(file, site('a'), site('b'));
    const hostile = new DatabaseSync(file);
    hostile.exec(`update site set row = 'x'`);
    hostile.close();
    expect(() => table.byName('a')).toThrow();
    table.repair();
    table.apply({ mark: '10', server, sites: [site('b')], gone: [] });
    expect(table.byName('b')?.id).toBe('b');
    expect(() => table.byName('a')).toThrow('read again');
    await table.finish({ mark: '10', server }, (id) => id === 'b');
    expect(table.byName('a')).toBeUndefined();
  });

  test('without a place for the file is replaced by memory', async () => {
    const file = newFile();
    const folder = join(file, '../..');
    writeFileSync(join(folder, 'edge'), 'not a folder');
    const table = await tableOf(file, site('a'));
    expect(table.byName('a')?.id).toBe('a');
    expect(logged[0]).toContain('is in memory');
  });
});
