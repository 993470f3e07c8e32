/** What the API answers to the person of the session: pages show it, and files pass through. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Input } from '#api/operations/inject.ts';
import { streamFor } from '#api/operations/inject.ts';
import { errors } from '#runtime/errors.ts';
import { call } from './actions.ts';
import type { Console } from './frame.ts';

/** The answer of an operation that only reads. Throws its refusal. */
export async function read<Answer>(
  console: Console,
  request: FastifyRequest,
  operation: string,
  input: Input = {},
): Promise<Answer> {
  const answer = await call(console, request, operation, input);
  if ('refusal' in answer) throw answer.refusal;
  return answer.body as Answer;
}

export type Listed<Item> = { items: Item[]; next_cursor: string | null };

/** All items of a list, up to so many pages of a hundred. `isCut`: there are more. */
export async function readAll<Item>(
  console: Console,
  request: FastifyRequest,
  operation: string,
  { pages = 1, ...input }: Input & { pages?: number },
): Promise<{ items: Item[]; isCut: boolean }> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let left = pages; left > 0; left--) {
    const page: Listed<Item> = await read(console, request, operation, {
      ...input,
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    });
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  return { items, isCut: cursor !== null };
}

/** The cursor of the page's address, as an input. */
export const cursorOf = ({ cursor }: { cursor?: unknown }): Input => (typeof cursor === 'string' ? { cursor } : {});

/** Throws `not_found` for a thing of another site than the page's. */
export function requireOfSite({ params }: FastifyRequest, thing: { site_id: string } | { site: { id: string } }): void {
  const siteId = 'site' in thing ? thing.site.id : thing.site_id;
  if (siteId === (params as { id?: string }).id) return;
  throw errors.not_found('There is nothing here. It may have been deleted.');
}

/** A file of the API, at its path there, as the browser's download. Throws its refusal. */
export async function sendFile({ app }: Console, request: FastifyRequest, reply: FastifyReply, path: string) {
  const { status, headers, stream, end, refusal } = await streamFor(app, request)(path);
  if (refusal) throw refusal;
  reply.raw.once('close', end);
  for (const name of ['content-type', 'content-disposition']) {
    const value = headers[name];
    if (value !== undefined) reply.header(name, value);
  }
  return reply.code(status).header('cache-control', 'no-store').send(stream);
}
