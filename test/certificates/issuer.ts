/** A root of the tests' own, and certificates from it for any names and times. */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const yearMs = 365 * 86_400_000;

export async function createIssuer(now: Date) {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=Root of a test ${randomBytes(4).toString('hex')}`,
      notBefore: new Date(now.getTime() - yearMs),
      notAfter: new Date(now.getTime() + 20 * yearMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never, false, webcrypto as never),
      ],
    },
    webcrypto as never,
  );

  /** For the public key of a PEM or a request; answers the chain as PEM. */
  async function issue(
    names: string[],
    publicKey: webcrypto.CryptoKey,
    notBefore: Date,
    notAfter: Date,
  ): Promise<string> {
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: randomBytes(16).toString('hex'),
        issuer: root.subject,
        notBefore,
        notAfter,
        publicKey: publicKey as never,
        signingKey: keys.privateKey as never,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey as never, false, webcrypto as never),
        ],
      },
      webcrypto as never,
    );
    return `${certificate.toString('pem')}\n`;
  }

  /** A certificate with a key of its own, good for 90 days from `since`. */
  async function make(names: string[], since: Date, days = 90): Promise<{ chain: string; key: string }> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
    const publicKey = await webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']);
    return { key, chain: await issue(names, publicKey, since, new Date(since.getTime() + days * 86_400_000)) };
  }

  return { root: `${root.toString('pem')}\n`, issue, make };
}
export type Issuer = Awaited<ReturnType<typeof createIssuer>>;
