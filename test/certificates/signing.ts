/** Requests as clients of an authority sign them (RFC 8555 section 6): by an account's key, for one address, with a nonce that is used once. */
import { createHash, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export class Problem extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string) {
    super(type);
    this.status = status;
    this.type = type;
  }
}

export const hash = (content: string): string => createHash('sha256').update(content).digest('base64url');

export type Signer = { kid: string | undefined; jwk: JsonWebKey; thumbprint: string };
// biome-ignore lint/suspicious/noExplicitAny: what a client sends is what each step asserts.
export type Signed = { signer: Signer; payload: any };

export function openSigning(url: () => string) {
  const nonces = new Set<string>();
  const accounts = new Map<string, Signer>();

  function signerOf({ jwk, kid }: { jwk?: JsonWebKey; kid?: string }): Signer {
    const known = kid === undefined ? undefined : accounts.get(kid);
    if (kid !== undefined && !known) throw new Problem(400, 'accountDoesNotExist');
    const { crv, kty, x, y } = known?.jwk ?? (jwk as JsonWebKey);
    return { kid, jwk: { crv, kty, x, y } as JsonWebKey, thumbprint: hash(JSON.stringify({ crv, kty, x, y })) };
  }

  return {
    accounts,
    newNonce(): string {
      const nonce = randomBytes(12).toString('base64url');
      nonces.add(nonce);
      return nonce;
    },
    async readSigned(request: IncomingMessage): Promise<Signed> {
      const sent = JSON.parse(await text(request)) as { protected: string; payload: string; signature: string };
      const head = JSON.parse(Buffer.from(sent.protected, 'base64url').toString());
      if (!nonces.delete(head.nonce)) throw new Problem(400, 'badNonce');
      if (head.url !== `${url()}${request.url}`) throw new Problem(403, 'unauthorized');
      const signer = signerOf(head);
      const key = createPublicKey({ key: signer.jwk, format: 'jwk' });
      const signed = Buffer.from(`${sent.protected}.${sent.payload}`);
      const signature = Buffer.from(sent.signature, 'base64url');
      if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)) throw new Problem(400, 'malformed');
      const payload = sent.payload === '' ? undefined : JSON.parse(Buffer.from(sent.payload, 'base64url').toString());
      return { signer, payload };
    },
  };
}
