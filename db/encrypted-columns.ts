/** The encrypted columns, and key rotation. */
import {
  currentKey,
  DecryptionFault,
  decrypt,
  type EncryptionKeys,
  encrypt,
  keyIdPosition,
} from '#runtime/encryption.ts';
import type { EntityManager } from './orm.ts';

/** The encryption context, which binds a ciphertext to its row. */
export const contextOf = {
  mail: (id: string) => `mail:${id}`,
  booking: (id: string) => `booking:${id}`,
  preparedMail: (bookingId: string) => `prepared-mail:${bookingId}`,
  payoutAccount: (id: string) => `payout-account:${id}`,
  certificate: (id: string) => `certificate:${id}`,
  certificateOrder: (id: string) => `certificate-order:${id}`,
  acmeAccount: (directory: string) => `acme-account:${directory}`,
} as const;

/** Every column that stays encrypted for longer than a day, with its table's key. Add new ones here. */
export const encryptedColumns = [
  { table: 'mail', column: 'sealed', key: 'id', context: contextOf.mail },
  { table: 'booking', column: 'visitor_sealed', key: 'id', context: contextOf.booking },
  { table: 'prepared_mail', column: 'sealed', key: 'booking_id', context: contextOf.preparedMail },
  { table: 'payout_account', column: 'sealed_key', key: 'id', context: contextOf.payoutAccount },
  { table: 'certificate', column: 'sealed_key', key: 'id', context: contextOf.certificate },
  { table: 'certificate', column: 'order_key', key: 'id', context: contextOf.certificateOrder },
  { table: 'acme_account', column: 'sealed_key', key: 'directory', context: contextOf.acmeAccount },
] as const;
type EncryptedColumn = (typeof encryptedColumns)[number];

const batchSize = 200;
type Row = { id: string; sealed: Buffer };

/** Counts for one column. `unreadable`: encrypted under an unknown key, or corrupt; these rows stay unchanged. */
export type ReencryptedRows = { resealed: number; unreadable: number };

/**
 * Encrypts everything under the newest key. It may be interrupted and run again, since the rows are its only state. It
 * updates a row only if that is unchanged since it was read, so it can run while the service does. Returns counts by
 * `table.column`.
 */
export async function reencrypt(em: EntityManager, keyring: EncryptionKeys): Promise<Record<string, ReencryptedRows>> {
  const answer: Record<string, ReencryptedRows> = {};
  for (const place of encryptedColumns)
    answer[`${place.table}.${place.column}`] = await reencryptColumn(em, keyring, place);
  return answer;
}

async function reencryptColumn(
  em: EntityManager,
  keyring: EncryptionKeys,
  place: EncryptedColumn,
): Promise<ReencryptedRows> {
  const { table, column, key, context } = place;
  const done = { resealed: 0, unreadable: 0 };
  for (let after = ''; ; ) {
    const rows: Row[] = await em.execute(
      `select ${key} as id, ${column} as sealed from ${table}
       where ${column} is not null and ${keyIdOf(column)} <> ? and ${key} > ? order by ${key} limit ${batchSize}`,
      [currentKey(keyring).id, after],
    );
    for (const { id, sealed } of rows) {
      const reencrypted = reencryptValue(keyring, sealed, context(id));
      if (!reencrypted) done.unreadable += 1;
      else if (await replace(em, place, { id, sealed, reencrypted })) done.resealed += 1;
    }
    const last = rows.at(-1);
    if (!last || rows.length < batchSize) return done;
    after = last.id;
  }
}

function reencryptValue(keyring: EncryptionKeys, sealed: Buffer, context: string): Buffer | undefined {
  try {
    return encrypt(keyring, decrypt(keyring, sealed, context), context);
  } catch (error) {
    if (error instanceof DecryptionFault) return undefined;
    throw error;
  }
}

/** False where the row has changed since it was read. */
async function replace(
  em: EntityManager,
  { table, column, key }: EncryptedColumn,
  { id, sealed, reencrypted }: Row & { reencrypted: Buffer },
): Promise<boolean> {
  const rows: unknown[] = await em.execute(
    `update ${table} set ${column} = ? where ${key} = ? and ${column} = ? returning ${key}`,
    [reencrypted, id, sealed],
  );
  return rows.length === 1;
}

/** The number of rows under each key version, by `table.column`; `lost` counts unknown keys. */
export async function countEncrypted(
  em: EntityManager,
  keyring: EncryptionKeys,
): Promise<Record<string, Record<string, number>>> {
  const answer: Record<string, Record<string, number>> = {};
  for (const { table, column } of encryptedColumns) {
    const rows: { key_id: Buffer; rows: number }[] = await em.execute(
      `select ${keyIdOf(column)} as key_id, count(*)::int as rows from ${table} where ${column} is not null group by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { key_id, rows: count } of rows) {
      const version = keyring.find(({ id }) => id.equals(key_id))?.version ?? 'lost';
      counts[version] = (counts[version] ?? 0) + count;
    }
    answer[`${table}.${column}`] = counts;
  }
  return answer;
}

const keyIdOf = (column: string) => `substring(${column} from ${keyIdPosition.offset + 1} for ${keyIdPosition.bytes})`;
