/** Our account at the certificate authority: one encrypted key for all workers, registered again if the authority does not know it. */
import { AcmeAccount } from '#db/certificates/certificate.ts';
import { contextOf } from '#db/encrypted-columns.ts';
import type { AcmeSession } from '#providers/acme.ts';
import { decrypt, encrypt } from '#runtime/encryption.ts';
import type { CertificateDeps } from './context.ts';

export async function openSession(deps: CertificateDeps): Promise<AcmeSession> {
  const { authority, config, em } = deps;
  const directory = authority.directoryUrl;
  const row = (await em().findOne(AcmeAccount, { directory })) ?? (await addAccount(deps));
  const key = decrypt(config.encryptionKeys, row.sealedKey, contextOf.acmeAccount(directory)).toString();
  if (row.url) return authority.session({ key, url: row.url });
  const url = await authority.register(key);
  await em().nativeUpdate(AcmeAccount, { directory, url: null }, { url });
  return authority.session({ key, url });
}

/** All workers use the key that was inserted first. */
async function addAccount({ authority, clock, config, em }: CertificateDeps): Promise<AcmeAccount> {
  const directory = authority.directoryUrl;
  const encrypted = encrypt(config.encryptionKeys, await authority.newKey(), contextOf.acmeAccount(directory));
  await em().execute(
    'insert into acme_account (directory, sealed_key, created_at) values (?, ?, ?) on conflict do nothing',
    [directory, encrypted, clock.now()],
  );
  return await em().findOneOrFail(AcmeAccount, { directory });
}

/** For an authority that does not know the account (any more). The next session registers it again. */
export async function forgetAccount({ authority, em }: CertificateDeps): Promise<void> {
  await em().nativeUpdate(AcmeAccount, { directory: authority.directoryUrl }, { url: null });
}
