/** A self-signed certificate for a local server whose clients are configured to trust it. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const yearMs = 365 * 24 * 3600_000;

/** Both as PEM; for this address and these names. */
export async function makeSelfSigned(
  address: string,
  names = ['localhost'],
): Promise<{ certificate: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=local server',
      notBefore: new Date(Date.UTC(2020, 0, 1)),
      notAfter: new Date(Date.UTC(2020, 0, 1) + 100 * yearMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.SubjectAlternativeNameExtension([
          { type: 'ip', value: address },
          ...names.map((value) => ({ type: 'dns' as const, value })),
        ]),
      ],
    },
    webcrypto as never,
  );
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const pem = `-----BEGIN PRIVATE KEY-----\n${key.match(/.{1,64}/g)?.join('\n')}\n-----END PRIVATE KEY-----\n`;
  return { certificate: `${certificate.toString('pem')}\n`, key: pem };
}
