/** A certificate that all contestants of a benchmark show: ECDSA P-256, self-signed. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { contextOf } from '#db/encrypted-columns.ts';
import { createEncryptionKeys, encrypt } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import type { Sites } from '#tools/bench/edge-sites.ts';

/** The installation's, of the edges that are measured. */
export const secret = 'x'.repeat(32);

export type Certificate = { name: string; chainFile: string; keyFile: string };

export async function createCertificate(dir: string, name: string): Promise<Certificate> {
  const [chainFile, keyFile] = [join(dir, 'chain.pem'), join(dir, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '90', ...key, ...names, '-out', chainFile]);
  return { name, chainFile, keyFile };
}

/** Saves it as the platform's own certificate. */
export async function saveCertificate(sites: Sites, { name, chainFile, keyFile }: Certificate): Promise<void> {
  const id = newId('cert');
  const sealed = encrypt(createEncryptionKeys(secret, []), await readFile(keyFile, 'utf8'), contextOf.certificate(id));
  await sites.query(
    `insert into certificate (id, name, status, chain, sealed_key, not_before, not_after, renew_at, healthy_since, created_at)
     values ($1, $2, 'active', $3, $4, now(), now() + interval '90 days', now() + interval '60 days', now(), now())`,
    [id, name, await readFile(chainFile, 'utf8'), sealed],
  );
}
