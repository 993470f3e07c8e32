/**
 * Pagination of lists, newest first. A cursor is the position of the last row, so rows that are added later shift
 * nothing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EntityName, FilterQuery } from '@mikro-orm/core';
import { z } from 'zod';
import type { EntityManager } from '#db/orm.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';

/** The default page size. */
export const pageItems = 50;

/** The query of every list; extend it with the filters of a list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(pageItems).describe('Maximum number of items.'),
  cursor: z.string().optional().describe('`next_cursor` of the previous page.'),
});
export type PageQuery = { limit: number; cursor?: string | undefined };

/** The response of every list. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .describe('Send this value as `cursor` to get the next page. It is null on the last page.'),
  });
}

/** Reads rows of an entity for `page`, by descending id. */
export function newestFirst<Entity extends { id: string }>(
  em: EntityManager,
  entity: EntityName<Entity>,
  where: FilterQuery<NoInfer<Entity>>,
): (after: string | undefined, limit: number) => Promise<Entity[]> {
  return async (after, limit) => {
    const older = after === undefined ? where : { $and: [where, { id: { $lt: after } }] };
    return await em.find<Entity>(entity, older as never, { orderBy: { id: 'desc' } as never, limit });
  };
}

export const byId = (row: { id: string }): string => row.id;

export type Page<Row> = { rows: Row[]; next_cursor: string | null };

/**
 * Reads one page. `list` identifies the list (name, owner, filters), because a cursor is only valid for its list.
 * `read` returns up to `limit` rows after the position, or the first ones. `positionOf` returns the position of a row.
 * Throws `invalid_cursor`.
 */
export async function page<Row>(
  secret: string,
  list: readonly string[],
  query: PageQuery,
  read: (after: string | undefined, limit: number) => Promise<Row[]> | Row[],
  positionOf: (row: Row) => string,
): Promise<Page<Row>> {
  const key = deriveKey(secret, `cursor\0${JSON.stringify(list)}`);
  const after = query.cursor === undefined ? undefined : openCursor(key, query.cursor);
  const rows = await read(after, query.limit + 1);
  const more = rows.length > query.limit;
  if (more) rows.length = query.limit;
  const last = rows.at(-1);
  return { rows, next_cursor: more && last ? writeCursor(key, positionOf(last)) : null };
}

const signatureBytes = 16;

function sign(key: Buffer, position: Buffer): Buffer {
  return createHmac('sha256', key).update(position).digest().subarray(0, signatureBytes);
}

function writeCursor(key: Buffer, position: string): string {
  const text = Buffer.from(position);
  return Buffer.concat([sign(key, text), text]).toString('base64url');
}

function openCursor(key: Buffer, cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(signatureBytes);
  const signed =
    bytes.length >= signatureBytes &&
    // Base64 has several encodings of the same bytes; only the one that we created is valid.
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(bytes.subarray(0, signatureBytes), sign(key, position));
  if (!signed) {
    throw errors.invalid_cursor('The cursor is not valid for this list.', {
      nextAction: 'Omit cursor to read the first page, then send next_cursor unchanged.',
    });
  }
  return position.toString();
}
