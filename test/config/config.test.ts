import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '#runtime/config.ts';

let dir: string;
const secret = 'a secret of at least thirty-two characters';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-config-'));
  await writeFile(join(dir, 'secret'), `${secret}\n`);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('a variable may be read from a file, as containers receive secrets', () => {
  const config = readConfig({
    FRONTAGE_SECRET_FILE: join(dir, 'secret'),
    DATABASE_URL_FILE: join(dir, 'secret'),
    SSL_CERT_FILE: '/of/somebody/else',
  });
  expect(config.secret).toBe(secret);
  expect(config.databaseUrl).toBe(secret);
});

test('an unreadable file, or one beside its variable, is a fault without its contents', () => {
  const said = (env: NodeJS.ProcessEnv) => {
    try {
      readConfig(env);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(said({ FRONTAGE_SECRET_FILE: join(dir, 'absent') })).toContain('FRONTAGE_SECRET_FILE: ENOENT');
  const both = said({ FRONTAGE_SECRET_FILE: join(dir, 'secret'), FRONTAGE_SECRET: 'x'.repeat(40) });
  expect(both).toContain('FRONTAGE_SECRET_FILE: is set together with FRONTAGE_SECRET');
  expect(both).not.toContain(secret);
});

test('a store is a folder or a folder in a bucket', () => {
  const storeOf = (FRONTAGE_STORE: string) => readConfig({ FRONTAGE_SECRET: secret, FRONTAGE_STORE });
  expect(storeOf('/data/store')).toMatchObject({ storeDir: '/data/store', s3: undefined });
  expect(storeOf('s3://sites')).toMatchObject({
    storeDir: undefined,
    s3: { bucket: 'sites', prefix: '' },
  });
  expect(storeOf('s3://sites/of/ours/')).toMatchObject({ s3: { bucket: 'sites', prefix: 'of/ours/' } });
  for (const wrong of ['s3://', 's3:/sites', 's3://-sites', 's3://sites?key=1', 'S3://sites', 'S3:sites'])
    expect(() => storeOf(wrong)).toThrow('FRONTAGE_STORE: must be a folder or s3://bucket/folder');
  for (const other of ['azure://sites', 'gs://sites', 'file:///data', 'https://store.test/sites'])
    expect(() => storeOf(other)).toThrow('FRONTAGE_STORE: must be a folder or s3://bucket/folder');
});
