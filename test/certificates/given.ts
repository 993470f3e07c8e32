/** Rows of existing certificates, for tests of serving them. */
import { X509Certificate } from 'node:crypto';
import { encrypt } from '#runtime/encryption.ts';
import { newId } from '#runtime/ids.ts';
import type { CertificateFixture } from './fixture.ts';
import type { Issuer } from './issuer.ts';

export async function giveCertificate(
  { db, config }: Pick<CertificateFixture, 'db' | 'config'>,
  issuer: Issuer,
  { name, domainId = null, days = 90 }: { name: string; domainId?: string | null; days?: number },
): Promise<X509Certificate> {
  const since = new Date(Date.now() - 60_000);
  const { chain, key } = await issuer.make(name.startsWith('*.') ? [name, name.slice(2)] : [name], since, days);
  const certificate = new X509Certificate(chain);
  const found = await db.query('select id from certificate where name = $1 and domain_id is not distinct from $2', [
    name,
    domainId,
  ]);
  const id = found.rows[0]?.id ?? newId('cert');
  await db.query(
    `insert into certificate (id, domain_id, name, status, chain, sealed_key, not_before, not_after, renew_at, healthy_since, created_at)
     values ($1, $2, $3, 'active', $4, $5, $6, $7, $7, $6, $6) on conflict (id) do update
     set chain = excluded.chain, sealed_key = excluded.sealed_key, not_before = excluded.not_before, not_after = excluded.not_after`,
    [
      id,
      domainId,
      name,
      chain,
      encrypt(config.encryptionKeys, key, `certificate:${id}`),
      since,
      certificate.validToDate,
    ],
  );
  return certificate;
}
