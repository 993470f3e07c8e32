/** Files that are built once for each version of the platform, and the removal of earlier versions. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DefaultLogger } from '@temporalio/worker';
import type Docker from 'dockerode';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeEarlierImages } from '#providers/sandbox/image/docker-image.ts';
import { imageId, makeImageFolder } from '#providers/sandbox/image/image.ts';
import { addSystem } from '#providers/sandbox/image/system.ts';
import { makeVersion, pruneVersions, removeAbandoned } from '#runtime/cached-versions.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { dataDir, engine } from './fixture.ts';
import { toTar } from './tar.ts';

test('an existing image is found at once', { timeout: 300_000 }, async () => {
  const made = await makeImageFolder(dataDir, () => {});
  const lines: string[] = [];
  expect(await makeImageFolder(dataDir, (line) => lines.push(line))).toEqual(made);
  expect(made.id).toBe(await imageId());
  expect(lines).toEqual([]);
});

test.runIf(process.platform === 'linux')('an image can be made in a folder whose name has spaces', async () => {
  const { path } = await makeImageFolder(dataDir, () => {});
  const folder = await mkdtemp(join(tmpdir(), 'frontage image '));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const native = 'opt/frontage/node_modules/@img';
  await cp(join(path, native), join(folder, native), { recursive: true });
  await addSystem(folder);
  expect(await readdir(join(folder, 'usr'))).toContain('bin');
});

const letters = (letter: string) => letter.repeat(16);

test('a killed process leaves nothing that looks like a version', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { makeVersion } from ${JSON.stringify(join(import.meta.dirname, '../../runtime/cached-versions.ts'))};
    await makeVersion(${JSON.stringify(folder)}, '${letters('d')}', async (aside) => {
      await writeFile(aside + '/half', '');
      console.log('half');
      await new Promise(() => setInterval(() => {}, 1000));
    });`;
  const maker = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(maker.stdout, 'data');
  maker.kill('SIGKILL');
  await once(maker, 'exit');
  const left = await readdir(folder);
  expect(left).toEqual([expect.stringMatching(/^\.making-/)]);
  await utimes(join(folder, left[0] ?? ''), 0, 0);
  expect(await makeVersion(folder, letters('d'), async () => {})).toBe(join(folder, letters('d')));
  expect(await readdir(folder)).toEqual([letters('d')]);
});

test('two processes that make the same version keep one of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const both = Promise.withResolvers<void>();
  let started = 0;
  const fill = async (aside: string) => {
    await writeFile(join(aside, 'file'), String(started));
    if (++started === 2) both.resolve();
    await both.promise;
  };
  const [one, two] = await Promise.all([makeVersion(folder, 'v', fill), makeVersion(folder, 'v', fill)]);
  expect(one).toBe(two);
  expect(started).toBe(2);
  expect(await readdir(folder)).toEqual(['v']);
  expect(await readdir(one)).toEqual(['file']);
});

test('the version used last and the one before it are kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [days, name] of ['a', 'b', 'c'].map((letter, at) => [9 - at, letters(letter)] as const)) {
    await mkdir(join(folder, name, 'usr'), { recursive: true });
    const made = Date.now() / 1000 - days * 24 * 3600;
    await utimes(join(folder, name), made, made);
  }
  for (const name of [letters('d'), 'notes']) await mkdir(join(folder, name));
  await pruneVersions(folder, /^[0-9a-f]{16}$/, letters('d'));
  expect((await readdir(folder)).sort()).toEqual([letters('c'), letters('d'), 'notes']);
});

/** An image of nothing, as `docker load` takes it: its age is what it says. */
function imageOf(tag: string, id: string, created: string): Readable {
  const layer = Buffer.alloc(1024);
  const diff = createHash('sha256').update(layer).digest('hex');
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    created,
    config: { Labels: { 'frontage.image': id }, Cmd: ['/none'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diff}`] },
  });
  const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }];
  return toTar({ 'config.json': config, 'layer.tar': layer, 'manifest.json': JSON.stringify(manifest) });
}

describe('a container engine', { tags: 'docker' }, () => {
  const docker = engine as Docker;
  const repository = `frontage-test-${randomBytes(6).toString('hex')}`;
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3600_000).toISOString();
  const tags = async () =>
    (await docker.listImages({ filters: { reference: [repository] } }))
      .flatMap(({ RepoTags }) => RepoTags ?? [])
      .sort();

  test('removes images of a week ago, except those in use', async () => {
    const ages = { now: 30, held: 20, old: 8, young: 6 };
    for (const [tag, days] of Object.entries(ages)) {
      const loaded = await docker.loadImage(imageOf(`${repository}:${tag}`, tag, daysAgo(days)));
      await text(loaded);
    }
    const container = await docker.createContainer({ Image: `${repository}:held` });
    onTestFinished(async () => {
      await container.remove();
      for (const tag of await tags()) await docker.getImage(tag).remove();
    });
    expect(await tags()).toHaveLength(4);
    await removeEarlierImages(docker, `${repository}:now`);
    expect(await tags()).toEqual(['held', 'now', 'young'].map((tag) => `${repository}:${tag}`));
  });
});

test('the workflow bundle is kept with the previous one alone', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-bundle-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const cache = join(folder, 'cache');
  await mkdir(cache);
  for (const [at, letter] of ['a', 'b', 'c'].entries()) {
    const path = join(cache, `workflows-${letter.repeat(16)}.js`);
    await writeFile(path, letter);
    await utimes(path, 1_000 + at, 1_000 + at);
  }
  const logger = new DefaultLogger('ERROR');
  const [one, two] = await Promise.all([workflowBundle(folder, logger), workflowBundle(folder, logger)]);
  expect(one.code).toBe(two.code);
  const left = (await readdir(cache)).sort();
  expect(left).toHaveLength(2);
  expect(left).toContain(`workflows-${'c'.repeat(16)}.js`);
  expect((await workflowBundle(folder, logger)).code).toBe(one.code);
});

test('after a downgrade the replaced version stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [at, name] of ['v1', 'v2', 'v3'].entries()) {
    await mkdir(join(folder, name));
    await utimes(join(folder, name), 1_000 + at, 1_000 + at);
  }
  await pruneVersions(folder, /^v\d$/, 'v1');
  expect((await readdir(folder)).sort()).toEqual(['v1', 'v3']);
});

test('a killed build’s leftovers are removed after an hour, a running one’s are not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-versions-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['sites.json', 'sites.json.old', 'sites.json.new']) await writeFile(join(folder, name), '');
  for (const name of ['sites.json', 'sites.json.old']) await utimes(join(folder, name), 1_000, 1_000);
  await removeAbandoned(folder, 'sites.json.');
  expect((await readdir(folder)).sort()).toEqual(['sites.json', 'sites.json.new']);
});
