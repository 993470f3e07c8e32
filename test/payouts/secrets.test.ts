/** Where a key of an owner stands, and where it does not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { createEncryptionKeys } from '#runtime/encryption.ts';
import { AppError } from '#runtime/errors.ts';
import { answered, createPayoutWorld, newKey, type PayoutWorld } from './world.ts';

let world: PayoutWorld;
beforeAll(async () => {
  world = await createPayoutWorld({
    FRONTAGE_SEALING_KEYS: `v1:${'first sealing key of the tests '.repeat(2)}`,
    FRONTAGE_LOG_LEVEL: 'trace',
  });
  world.deps.log.level = 'trace';
});
afterAll(() => world?.close());

/** Every row of the database, as a dump of it has them. */
async function dump(): Promise<string> {
  const em = world.deps.em();
  const tables: { name: string }[] = await em.execute(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const rows = await Promise.all(tables.map(({ name }) => em.execute(`select t::text as row from "${name}" t`)));
  return JSON.stringify(rows);
}
/** As it would stand in text, in bytes, and in base64. */
const spellings = (key: string) => [
  key,
  Buffer.from(key).toString('hex'),
  Buffer.from(key).toString('base64').slice(0, -4),
];

test('a key stands in no row, log or error in clear, and only its last four characters are shown', async () => {
  const owner = await world.newCaller();
  const [key, next, bad] = [newKey(), newKey(), newKey('revoked')];
  const refused = `sk_test_${'unrestricted'.repeat(3)}`;
  const answers = [
    await owner.call('POST', world.accounts, { body: { secret_key: key }, headers: { 'idempotency-key': 'k' } }),
    await world.add(owner, { secret_key: bad }),
    await world.add(owner, { secret_key: refused }),
    await world.add(owner, { secret_key: key, rail: 'connect' }),
    await owner.call('POST', world.accounts, { raw: `{"secret_key":"${key}"` }),
  ];
  const { id } = answered(answers[0] as (typeof answers)[number]);
  answers.push(
    await owner.call('POST', `${world.accounts}/${id}/key`, { body: { secret_key: `${key}_next` } }),
    await owner.call('POST', `${world.accounts}/${id}/key`, { body: { secret_key: next } }),
    await owner.call('GET', world.accounts),
    await owner.call('GET', '/v1/account'),
  );
  world.stub.knobs.turnAway = 1;
  answers.push(await world.add(owner, { secret_key: next }));
  world.stub.knobs.turnAway = 0;
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 400, 400, 200, 400, 200, 200, 502]);
  const rows = await dump();
  expect(rows).toContain(id);
  for (const secret of [key, `${key}_next`, next, bad, refused].flatMap(spellings)) {
    expect(rows).not.toContain(secret);
    expect(JSON.stringify(world.logged)).not.toContain(secret);
    expect(answers.map(({ text }) => text).join()).not.toContain(secret);
  }
  const [shown] = await world.list(owner);
  expect(shown.key_last_four).toBe('next');
});

test('a copy of the database opens no key without the sealing key, though the secret of the installation is known', async () => {
  const owner = await world.newCaller();
  const key = newKey();
  const { id } = answered(await world.add(owner, { secret_key: key }));
  const account = await world.deps.em().findOneOrFail(PayoutAccount, { id });
  expect(credentialsOf(world.deps, account)).toEqual({ rail: 'own_key', key });
  const sealing = createEncryptionKeys(world.config.secret, [
    { version: 'v1', secret: 'another key of forty characters and more' },
  ]);
  const told = (() => {
    try {
      return credentialsOf({ config: { sealing } }, account);
    } catch (error) {
      return error;
    }
  })();
  expect(told).toBeInstanceOf(AppError);
  expect(told).toMatchObject({ code: 'payout_key_unreadable', status: 502, retryable: false });
  expect((told as AppError).nextAction).toContain(`${id}/key`);
});

test('a sealed key that is moved to another account does not open there', async () => {
  const owner = await world.newCaller();
  const [one, two] = [await world.newAccount(owner), await world.newAccount(owner)];
  const em = world.deps.em();
  await em.execute(
    'update payout_account set sealed_key = (select sealed_key from payout_account where id = ?) where id = ?',
    [one.id, two.id],
  );
  const moved = await em.findOneOrFail(PayoutAccount, { id: two.id });
  expect(() => credentialsOf(world.deps, moved)).toThrow(/can no longer decrypt/);
});

test('an owner whose key cannot be read any more is told so, and a new key mends it', async () => {
  const owner = await world.newCaller();
  const key = newKey();
  const { id } = answered(await world.add(owner, { secret_key: key }));
  await world.deps
    .em()
    .execute(`update payout_account set sealed_key = decode(repeat('01', 60), 'hex') where id = ?`, [id]);
  world.skip(16 * 60_000);
  const [told] = await world.list(owner);
  expect(told).toMatchObject({ status: 'pending', waiting_for: [expect.stringContaining('can no longer decrypt')] });
  const { body } = await owner.call('POST', `${world.accounts}/${id}/key`, { body: { secret_key: key } });
  expect(body).toMatchObject({ status: 'ready', waiting_for: [] });
});
