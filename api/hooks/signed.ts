/** Signature verification of webhooks, over the raw body. */
import type { FastifyRequest } from 'fastify';
import { errors } from '#runtime/errors.ts';

/**
 * What `read` returns for a message with a valid signature. Throws `invalid_input`, always with the same message:
 * details would only help attackers.
 */
export function signedMessage<Message>(
  { body, headers }: Pick<FastifyRequest, 'body' | 'headers'>,
  read: (body: Buffer, signature: string) => Message,
): Message {
  const signature = headers['stripe-signature'];
  try {
    if (Buffer.isBuffer(body) && typeof signature === 'string') return read(body, signature);
  } catch {
    // Refused below, like a missing signature.
  }
  throw errors.invalid_input('The webhook signature is not valid.');
}
