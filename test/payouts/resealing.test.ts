/** From one sealing key to the next: everything stays readable, and losses are reported. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countEncrypted, encryptedColumns, reencrypt } from '#db/encrypted-columns.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, queueMail, withText } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { credentialsOf, encryptKey } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { readConfig } from '#runtime/config.ts';
import { createEncryptionKeys } from '#runtime/encryption.ts';
import { answered, createPayoutFixture, newKey, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

const first = { version: 'v1', secret: 'the first sealing key of these tests' };
const second = { version: 'v2', secret: 'the second sealing key of these tests' };
const ringOf = (...versions: (typeof first)[]) => createEncryptionKeys(fixture.config.secret, versions);
const deps = (encryptionKeys = fixture.config.encryptionKeys) => ({
  clock: fixture.clock,
  config: { ...fixture.config, encryptionKeys },
});

/** Mails and payout accounts, sealed under the newest key of the ring. */
async function fill(encryptionKeys: ReturnType<typeof ringOf>, mails: number): Promise<{ id: string; key: string }> {
  const em = fixture.deps.em();
  for (let at = 0; at < mails; at++) {
    queueMail(em, deps(encryptionKeys), { kind: 'signin-link', to: `p${at}@example.com`, data: {} as never });
  }
  await em.flush();
  const key = newKey();
  const { id } = answered(await fixture.add(await fixture.newCaller(), { secret_key: key }));
  await em.nativeUpdate(PayoutAccount, { id }, { sealedKey: encryptKey({ encryptionKeys }, id, key) });
  return { id, key };
}
const read = async (id: string, encryptionKeys: ReturnType<typeof ringOf>) =>
  credentialsOf({ config: { encryptionKeys } }, await fixture.deps.em().findOneOrFail(PayoutAccount, { id }));
async function clear() {
  await fixture.deps.em().execute('delete from mail; delete from payout_account');
}

test('one command re-encrypts all values of earlier versions under the newest key', async () => {
  const [oldest, older] = [await fill(ringOf(), 3), await fill(ringOf(first), 2)];
  const ring = ringOf(first, second);
  expect([await read(oldest.id, ring), await read(older.id, ring)]).toMatchObject([
    { key: oldest.key },
    { key: older.key },
  ]);
  expect(await countEncrypted(fixture.deps.em(), ring)).toMatchObject({
    'mail.sealed': { secret: 3, v1: 2 },
    'payout_account.sealed_key': { secret: 1, v1: 1 },
  });
  const env = {
    ...process.env,
    DATABASE_URL: fixture.database.url,
    FRONTAGE_SECRET: fixture.config.secret,
    FRONTAGE_SEALING_KEYS: `${first.version}:${first.secret},${second.version}:${second.secret}`,
  };
  const operator = async (command: string) =>
    JSON.parse(
      (await promisify(execFile)(process.execPath, ['operator/admin.ts', 'sealing', command], { env })).stdout,
    );
  expect(await operator('reseal')).toMatchObject({
    'mail.sealed': { resealed: 5, unreadable: 0 },
    'payout_account.sealed_key': { resealed: 2, unreadable: 0 },
  });
  expect(await operator('status')).toMatchObject({ 'mail.sealed': { v2: 5 }, 'payout_account.sealed_key': { v2: 2 } });
  expect(await operator('reseal')).toMatchObject({ 'mail.sealed': { resealed: 0, unreadable: 0 } });
  const alone = createEncryptionKeys('the secret of the installation was changed', [second]);
  expect(await read(oldest.id, alone)).toMatchObject({ key: oldest.key });
  const mails = await fixture.deps.em().find(Mail, {}, withText);
  expect(
    mails.map(({ id, sealed }) => decryptLetter({ id, sealed: sealed ?? Buffer.alloc(0) }, alone).to).sort(),
  ).toHaveLength(5);
  await clear();
});

test('interrupted re-encryption continues, and overwrites no newer value', async () => {
  await fill(ringOf(), 250);
  const { id } = await fill(ringOf(), 0);
  const em = fixture.deps.em();
  const moved = newKey();
  let writes = 0;
  const breaking = {
    async execute(sql: string, parameters: unknown[]) {
      if (sql.startsWith('update mail') && ++writes > 220) throw new Error('killed');
      return await em.execute(sql, parameters as never);
    },
  } as unknown as EntityManager;
  await expect(reencrypt(breaking, ringOf(first))).rejects.toThrow('killed');
  expect((await countEncrypted(em, ringOf(first)))['mail.sealed']).toEqual({ v1: 220, secret: 30 });
  const racing = {
    async execute(sql: string, parameters: unknown[]) {
      // A new key comes between what was read and what is written.
      if (sql.startsWith('update payout_account')) {
        await em.nativeUpdate(
          PayoutAccount,
          { id },
          { sealedKey: encryptKey({ encryptionKeys: ringOf(first) }, id, moved) },
        );
      }
      return await em.execute(sql, parameters as never);
    },
  } as unknown as EntityManager;
  const done = await reencrypt(racing, ringOf(first));
  expect(done['mail.sealed']).toEqual({ resealed: 30, unreadable: 0 });
  expect(await read(id, ringOf(first))).toMatchObject({ key: moved });
  await clear();
});

test('values under a lost key stay unchanged, and are counted', async () => {
  const { id, key } = await fill(ringOf(first), 2);
  const em = fixture.deps.em();
  expect(await reencrypt(em, ringOf(second))).toMatchObject({
    'mail.sealed': { resealed: 0, unreadable: 2 },
    'payout_account.sealed_key': { resealed: 0, unreadable: 1 },
  });
  expect(await countEncrypted(em, ringOf(second))).toMatchObject({ 'payout_account.sealed_key': { lost: 1 } });
  await expect(read(id, ringOf(second))).rejects.toMatchObject({ code: 'payout_key_unreadable' });
  expect(await read(id, ringOf(first, second))).toMatchObject({ key });
  await clear();
});

test('every encrypted column is known to the command', async () => {
  const columns: { name: string }[] = await fixture.deps.em().execute(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'bytea' and (column_name like '%sealed%' or column_name like '%\\_key')`,
  );
  const known = encryptedColumns.map(({ table, column }) => `${table}.${column}`);
  // Sealed under what the caller's token makes; and good for 12 hours.
  const others = ['idempotency_key.sealed', 'ticket_key.sealed'];
  expect(columns.map(({ name }) => name).sort()).toEqual([...known, ...others].sort());
});

test('sealing keys are unique and long enough, and faults reveal none', () => {
  const secret = 'a secret that nobody is to read in a fault';
  for (const keys of [
    secret,
    'v1:short',
    `v1:${secret},v1:other${secret}`,
    `v1:${secret},v2:${secret}`,
    `V 1:${secret}`,
  ]) {
    const read = () => readConfig({ FRONTAGE_SECRET: 'x'.repeat(32), FRONTAGE_SEALING_KEYS: keys });
    expect(read).toThrow(/FRONTAGE_SEALING_KEYS/);
    expect(read).not.toThrow(new RegExp(secret));
  }
});
