/** What machines without a network need from outside: npm's packages, and Temporal's command with the site that offers it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeSelfSigned } from '#tools/local/services/self-signed.ts';
import { findTemporal } from '#tools/local/services/temporal-cli.mjs';
import { downloads, type Machine } from './machine.ts';

export type Materials = {
  /** A copy of this user's npm cache, which has the packages of the lockfiles. */
  npmCache: string;
  /** Path of Temporal's command. */
  temporal: string;
  archive: string;
  key: string;
  certificate: string;
  /** Variables that make Node trust the site and its archive. */
  trust: NodeJS.ProcessEnv;
};

export async function makeMaterials(folder: string): Promise<Materials> {
  const at = (name: string) => join(folder, name);
  const { npm_config_cache: own = join(homedir(), '.npm') } = process.env;
  mkdirSync(at('npm/_cacache'), { recursive: true });
  // Not what other processes are just writing.
  const complete = ['content-v2', 'index-v5'].map((name) => join(own, '_cacache', name));
  execFileSync('cp', ['-r', ...complete, at('npm/_cacache')]);
  const found = await findTemporal(console.log);
  execFileSync('cp', [found, at('temporal')]);
  execFileSync('tar', ['-C', folder, '-cf', at('temporal.tar.gz'), '--use-compress-program=gzip -1', 'temporal']);
  const { certificate, key } = await makeSelfSigned('127.0.0.1', ['temporal.download']);
  writeFileSync(at('key.pem'), key, { mode: 0o600 });
  writeFileSync(at('certificate.pem'), certificate);
  return {
    npmCache: at('npm'),
    temporal: at('temporal'),
    archive: at('temporal.tar.gz'),
    key: at('key.pem'),
    certificate: at('certificate.pem'),
    trust: {
      NODE_EXTRA_CA_CERTS: at('certificate.pem'),
      FRONTAGE_TEST_TEMPORAL_SHA256: await sha256(at('temporal.tar.gz')),
    },
  };
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Starts temporal.download in the machine's network, with the command's archive or without any answer. */
export async function offerDownloads(machine: Machine, materials: Materials, how: 'work' | 'hang' | 'fail') {
  if (how === 'fail') return;
  const { key, certificate, archive } = materials;
  const child = machine.inNetwork([process.execPath, downloads, key, certificate, how === 'work' ? archive : '']);
  child.stderr?.pipe(process.stderr);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
}
