/** Numbered pictures of checks and comparisons. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { idParams } from '#api/schemas.ts';
import type { Picture } from './rules.ts';

export const pictureParams = z.strictObject({ ...idParams.shape, number: z.coerce.number().int().min(0).max(99) });
export const pictureResponse = { 200: z.any().describe('A WebP image.') };

/** Sends a picture of a stranger's page: it runs nothing, whatever it is. */
export function sendPicture(reply: FastifyReply, format: 'webp' | 'png', { content, bytes }: Picture) {
  const headers = {
    'content-type': `image/${format}`,
    'content-length': bytes,
    'content-security-policy': "sandbox; default-src 'none'",
  };
  return reply.headers(headers).send(content);
}
