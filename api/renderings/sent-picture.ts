import type { FastifyReply } from 'fastify';

/** Sends a picture of a stranger's page: it runs nothing, whatever it is. */
export function sendPicture(reply: FastifyReply, format: 'webp' | 'png', bytes: Buffer) {
  const headers = { 'content-type': `image/${format}`, 'content-security-policy': "sandbox; default-src 'none'" };
  return reply.headers(headers).send(bytes);
}
