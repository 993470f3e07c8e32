/** Messages of the provider: taken as the bytes they came in, and believed by their signature alone. */
import type { FastifyRequest } from 'fastify';
import { errors } from '#runtime/errors.ts';

/** What `read` makes of a message that is signed. Throws `invalid_input`, whatever is wrong: more would help nobody but who guesses. */
export function signedMessage<Message>(
  { body, headers }: Pick<FastifyRequest, 'body' | 'headers'>,
  read: (body: Buffer, signature: string) => Message,
): Message {
  const signature = headers['stripe-signature'];
  try {
    if (Buffer.isBuffer(body) && typeof signature === 'string') return read(body, signature);
  } catch {
    // Refused below, as what has no signature is.
  }
  throw errors.invalid_input('The signature of the message is not valid.');
}
