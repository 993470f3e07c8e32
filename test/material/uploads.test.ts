import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material, tally } from './fixture.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial({}, { limits: { file_bytes: 200_000, files_per_day: 50 } });
});
afterAll(() => material.close());
const day = 86_400_000;
let shared: ReturnType<Material['owner']> | undefined;
/** An owner for tests that leave nothing behind that another sees. */
const anyOwner = () => (shared ??= material.owner());

describe('an upload link', () => {
  test('is created, shown once, listed without its address, and revoked', async () => {
    const owner = await material.owner();
    const made = await material.link(owner, owner.siteId, {
      expires_in_seconds: 3600,
      max_files: 3,
      max_file_bytes: 1000,
    });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^upl_/),
      status: 'open',
      files_left: 3,
      max_file_bytes: 1000,
    });
    expect(made.url).toMatch(new RegExp(`^${material.config.baseUrl}/u/fru_[\\w-]{43}$`));
    const list = await owner.call('GET', `/v1/sites/${owner.siteId}/uploads`);
    expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([made.id]);
    expect(list.text).not.toContain(made.secret);
    expect((await owner.call('DELETE', `/v1/uploads/${made.id}`)).body).toMatchObject({ status: 'ended', id: made.id });
    expect(errorOf(await material.send(made, 'a.png', sample.png)).code).toBe('expired');
    expect((await owner.call('DELETE', `/v1/uploads/${made.id}`)).body.status).toBe('ended');
  });

  test('is stored as a hash, and is in no log', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    await material.send(link, 'a.png', sample.png);
    await fetch(link.address);
    const rows = await material.deps.em().execute('select upload_link::text as row from upload_link');
    expect(JSON.stringify(rows)).not.toContain(link.secret.slice(4));
    expect(JSON.stringify(material.logged)).not.toContain(link.secret.slice(4));
  });

  test('is returned again with the same address under one key', async () => {
    const owner = await material.owner();
    const make = () =>
      owner.call('POST', `/v1/sites/${owner.siteId}/uploads`, { body: {}, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await make(), await make()];
    expect(second.body).toEqual(first.body);
  });

  test.each([
    ['no time', { expires_in_seconds: 0 }],
    ['a year', { expires_in_seconds: 31_536_000 }],
    ['no file', { max_files: 0 }],
    ['half a file', { max_files: 1.5 }],
    ['no bytes', { max_file_bytes: 0 }],
    ['more bytes than any file may have', { max_file_bytes: 200_001 }],
    ['text for a number', { max_files: '3' }],
  ])('for %s is invalid_upload', async (_what, body) => {
    const owner = await anyOwner();
    const answer = await owner.call('POST', `/v1/sites/${owner.siteId}/uploads`, { body });
    expect(errorOf(answer).code).toBe('invalid_upload');
  });

  test('is created, seen and revoked by members of the site alone', async () => {
    const [owner, stranger] = [await material.owner(), await material.newCaller()];
    const link = await material.link(owner, owner.siteId);
    const path = `/v1/sites/${owner.siteId}/uploads`;
    expect(errorOf(await stranger.call('POST', path, { body: {} })).code).toBe('not_found');
    expect(errorOf(await stranger.call('GET', path)).code).toBe('not_found');
    expect(errorOf(await stranger.call('DELETE', `/v1/uploads/${link.id}`)).code).toBe('not_found');
    expect((await material.send(link, 'a.png', sample.png)).status).toBe(200);
  });

  test('accepts its number of files and no more: exactly 10 of 40 concurrent ones', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 10 });
    const before = (await material.files(owner.siteId)).size;
    const sent = Array.from({ length: 40 }, (_, n) => material.send(link, `${n}.png`, sample.pngOf(n + 1, 1)));
    expect(tally(await Promise.all(sent))).toEqual({ 200: 10, plan_limit: 30 });
    expect((await material.files(owner.siteId)).size).toBe(before + 10);
    const list = await owner.call('GET', `/v1/sites/${owner.siteId}/uploads`);
    expect(list.body.items[0]).toMatchObject({ status: 'full', files_left: 0 });
    expect(await material.usedToday(owner)).toBe(10);
  });

  test('holds one place at a time, so that a killed process blocks no more', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 10 });
    const taken = async () => {
      const { body } = await owner.call('GET', `/v1/sites/${owner.siteId}/uploads`);
      return 10 - body.items[0].files_left;
    };
    const held: number[] = [];
    const commit = material.repositories.commit.bind(material.repositories);
    const watched = vi.spyOn(material.repositories, 'commit').mockImplementation(async (...args) => {
      held.push((await taken()) - held.length);
      return await commit(...args);
    });
    onTestFinished(() => watched.mockRestore());
    const sent = Array.from({ length: 6 }, (_, n) => material.send(link, `${n}.png`, sample.pngOf(3, n + 1)));
    expect(tally(await Promise.all(sent))).toEqual({ 200: 6 });
    expect(held).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('passes the place of a refused file to another', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 1 });
    expect((await material.send(link, 'a.png', sample.exe)).status).toBe(400);
    expect((await material.send(link, 'a.png', sample.png)).body).toMatchObject({ files_left: 0 });
    expect(await material.usedToday(owner)).toBe(1);
  });

  test('stores and counts a file sent twice once', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId, { max_files: 5 });
    const [first, second] = [
      await material.send(link, 'a.png', sample.png),
      await material.send(link, 'a.png', sample.png),
    ];
    expect(second.body).toEqual(first.body);
    expect(first.body.files_left).toBe(4);
  });

  test('has its own limit for files, in addition to the site’s', async () => {
    const owner = await material.owner();
    const exact = sample.pngOf(1, 1, sample.pngPart('teXt', Buffer.alloc(500)));
    const link = await material.link(owner, owner.siteId, { max_file_bytes: exact.length });
    const over = sample.pngOf(1, 1, sample.pngPart('teXt', Buffer.alloc(501)));
    expect((await material.send(link, 'exact.png', exact)).status).toBe(200);
    expect(errorOf(await material.send(link, 'over.png', over))).toMatchObject({
      code: 'plan_limit',
      message: expect.stringMatching(/^This file is larger than the limit of \d+ bytes/),
    });
  });

  test('ends at its expiry, its revocation, or the end of its maker’s access', async () => {
    const owner = await material.owner();
    const guest = await material.newCaller();
    const link = await material.link(owner, owner.siteId, { expires_in_seconds: 86_400 });
    await material.deps
      .em()
      .execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
        owner.siteId,
        guest.accountId,
        material.clock.now(),
      ]);
    const theirs = await material.link(guest, owner.siteId);
    expect((await material.send(theirs, 'a.png', sample.png)).status).toBe(200);
    await owner.call('DELETE', `/v1/sites/${owner.siteId}/collaborators/${guest.accountId}`);
    expect(errorOf(await material.send(theirs, 'b.png', sample.png)).code).toBe('expired');
    const { items } = (await owner.call('GET', `/v1/sites/${owner.siteId}/uploads`)).body;
    expect(items[0]).toMatchObject({ id: theirs.id, status: 'ended' });
    material.skip(day);
    expect(errorOf(await material.send(link, 'a.png', sample.png)).code).toBe('expired');
    expect((await fetch(link.address)).status).toBe(410);
  });

  test('of an archived or blocked site accepts nothing', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    await blockSite(material.deps.em(), material.clock, owner.siteId, 'It shows what is not its own.');
    expect(errorOf(await material.send(link, 'a.png', sample.png)).code).toBe('site_archived');
    await unblockSite(material.deps.em(), material.deps.clock, owner.siteId);
    expect((await material.send(link, 'a.png', sample.png)).status).toBe(200);
    await owner.call('POST', `/v1/sites/${owner.siteId}/archive`);
    expect(errorOf(await material.send(link, 'a.png', sample.png)).code).toBe('site_archived');
    expect(errorOf(await owner.call('POST', `/v1/sites/${owner.siteId}/uploads`, { body: {} })).code).toBe(
      'site_archived',
    );
  });
});

describe('a file by a link', () => {
  test.each([
    ['IMG_0001.HEIC', sample.jpg, 'img-0001.jpg'],
    ['Käse-Theke 🧀 (1).JPG', sample.jpg, 'kase-theke-1.jpg'],
    ['🥐🥐.png', sample.png, 'photo.png'],
    ['../../../etc/passwd.png', sample.png, 'passwd.png'],
    ['C:\\Users\\Ann\\con.png', sample.png, 'photo-con.png'],
    ['お店の写真.webp', sample.webp, 'お店の写真.webp'],
    ['no extension', sample.gif, 'no-extension.gif'],
    ['evil.exe', sample.png, 'evil.png'],
    [`${'x'.repeat(300)}.avif`, sample.avif, `${'x'.repeat(60)}.avif`],
    ['\u202egnp.exe\0.png', sample.png, 'gnp-exe.png'],
  ])('called %j gets a valid name', async (name, bytes, good) => {
    const owner = await anyOwner();
    const link = await material.link(owner, owner.siteId);
    const answer = await material.send(link, name, bytes);
    expect(answer.body.path).toBe(`src/assets/${good}`);
    expect(await material.bytes(owner.siteId, answer.body.path)).toEqual(bytes);
  });

  test('with a taken name, in any case, gets another name', async () => {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    await material.put(owner, owner.siteId, 'src/assets/Menu.png', sample.pngOf(9, 9));
    const paths: string[] = [];
    for (const n of [1, 2, 3]) paths.push((await material.send(link, 'menu.png', sample.pngOf(n, n))).body.path);
    expect(paths).toEqual(['src/assets/menu-2.png', 'src/assets/menu-3.png', 'src/assets/menu-4.png']);
    const { items } = (await owner.call('GET', `/v1/sites/${owner.siteId}/assets`)).body;
    expect(items.map(({ source }: { source: string }) => source)).toEqual([...Array(3).fill('upload_link'), 'api']);
    expect((await material.log(owner.siteId))[0]).toMatch(/^Owner \d+ <.*> Add menu.png through an upload link$/);
  });

  test.each([
    ['a renamed program', 'holiday.jpg', sample.exe, /^This is a program, not a photo/],
    ['a photo of an iPhone', 'IMG_1.HEIC', sample.heic, /HEIC format.*“Most Compatible”.*JPG/],
    ['a package', 'photos.zip', sample.zip, /archive of several files/],
    ['a document', 'menu.pdf', sample.pdf, /document/],
    ['nothing', 'empty.jpg', Buffer.alloc(0), /^This file is empty/],
    ['a page', 'page.jpg', Buffer.from(sample.html), /not a photo that a website can show/],
    ['a truncated photo', 'cut.jpg', sample.jpg.subarray(0, -2), /photo is incomplete/],
    ['an image of too many pixels', 'flood.png', sample.pngOf(60_000, 60_000), /too large for a website/],
    ['a drawing with a script', 'a.svg', Buffer.from(sample.svg('<script>1</script>')), /contains a script/],
    ['two files in one', 'a.png', Buffer.concat([sample.png, sample.zip]), /contains extra data/],
  ])('that is %s is refused in plain words, and nothing is stored', async (_what, name, bytes, words) => {
    const owner = await anyOwner();
    const link = await material.link(owner, owner.siteId, { max_files: 1 });
    const before = await material.objects(owner.siteId);
    const answer = await material.send(link, name, bytes);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).message).toMatch(words);
    expect(errorOf(answer).message).not.toMatch(/src\/assets|bytes are|extension|SVGO|commit|repository|git/);
    expect(await material.objects(owner.siteId)).toEqual(before);
    expect((await material.send(link, 'good.png', sample.png)).status).toBe(200);
  });
});

test('with files disabled, links and files are uploads_disabled', async () => {
  const off = await createMaterial({ FRONTAGE_FILES: 'off' });
  try {
    const owner = await off.owner();
    const made = await owner.call('POST', `/v1/sites/${owner.siteId}/uploads`, { body: { max_files: 'x' } });
    expect([made.status, errorOf(made).code]).toEqual([503, 'uploads_disabled']);
    expect(errorOf(await off.put(owner, owner.siteId, 'src/assets/a.png', sample.png)).code).toBe('uploads_disabled');
  } finally {
    await off.close();
  }
});
