/** Where an owner's key is stored, and where it is not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { call } from '#rules/calls/calls.ts';
import { createEncryptionKeys } from '#runtime/encryption.ts';
import { AppError } from '#runtime/errors.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { answered, createPayoutFixture, newKey, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture({
    FRONTAGE_SEALING_KEYS: `v1:${'first sealing key of the tests '.repeat(2)}`,
    FRONTAGE_LOG_LEVEL: 'trace',
  });
  fixture.deps.log.level = 'trace';
});
afterAll(() => fixture?.close());

/** Every row of the database, as a dump of it has them. */
async function dump(): Promise<string> {
  const em = fixture.deps.em();
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

test('a key is in no row, log or error, except its last four characters', async () => {
  const owner = await fixture.newCaller();
  const [key, next, bad] = [newKey(), newKey(), newKey('revoked')];
  const refused = `sk_test_${'unrestricted'.repeat(3)}`;
  const answers = [
    await owner.call('POST', fixture.accounts, { body: { secret_key: key }, headers: { 'idempotency-key': 'k' } }),
    await fixture.add(owner, { secret_key: bad }),
    await fixture.add(owner, { secret_key: refused }),
    await fixture.add(owner, { secret_key: key, rail: 'connect' }),
    await owner.call('POST', fixture.accounts, { raw: `{"secret_key":"${key}"` }),
  ];
  const { id } = answered(answers[0] as (typeof answers)[number]);
  answers.push(
    await owner.call('POST', `${fixture.accounts}/${id}/key`, { body: { secret_key: `${key}_next` } }),
    await owner.call('POST', `${fixture.accounts}/${id}/key`, { body: { secret_key: next } }),
    await owner.call('GET', fixture.accounts),
    await owner.call('GET', '/v1/account'),
  );
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  answers.push(await fixture.add(owner, { secret_key: next }));
  fixture.stub.knobs.turnAway = 0;
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 400, 400, 200, 400, 200, 200, 502]);
  const rows = await dump();
  expect(rows).toContain(id);
  for (const secret of [key, `${key}_next`, next, bad, refused].flatMap(spellings)) {
    expect(rows).not.toContain(secret);
    expect(JSON.stringify(fixture.logged)).not.toContain(secret);
    expect(answers.map(({ text }) => text).join()).not.toContain(secret);
  }
  const [shown] = await fixture.list(owner);
  expect(shown.key_last_four).toBe('next');
});

test('a copy of the database decrypts no key without the sealing key', async () => {
  const owner = await fixture.newCaller();
  const key = newKey();
  const { id } = answered(await fixture.add(owner, { secret_key: key }));
  const account = await fixture.deps.em().findOneOrFail(PayoutAccount, { id });
  expect(credentialsOf(fixture.deps, account)).toEqual({ rail: 'own_key', key });
  const encryptionKeys = createEncryptionKeys(fixture.config.secret, [
    { version: 'v1', secret: 'another key of forty characters and more' },
  ]);
  const told = (() => {
    try {
      return credentialsOf({ config: { encryptionKeys } }, account);
    } catch (error) {
      return error;
    }
  })();
  expect(told).toBeInstanceOf(AppError);
  expect(told).toMatchObject({ code: 'payout_key_unreadable', status: 502, retryable: false });
  expect((told as AppError).nextAction).toContain(call('payout.replace_key', { id }));
});

test('an encrypted key moved to another account does not decrypt', async () => {
  const owner = await fixture.newCaller();
  const [one, two] = [await fixture.newAccount(owner), await fixture.newAccount(owner)];
  const em = fixture.deps.em();
  await em.execute(
    'update payout_account set sealed_key = (select sealed_key from payout_account where id = ?) where id = ?',
    [one.id, two.id],
  );
  const moved = await em.findOneOrFail(PayoutAccount, { id: two.id });
  expect(() => credentialsOf(fixture.deps, moved)).toThrow(/can no longer decrypt/);
});

test('an undecryptable key is reported to its owner, and a new key repairs it', async () => {
  const owner = await fixture.newCaller();
  const key = newKey();
  const { id } = answered(await fixture.add(owner, { secret_key: key }));
  await fixture.deps
    .em()
    .execute(`update payout_account set sealed_key = decode(repeat('01', 60), 'hex') where id = ?`, [id]);
  fixture.skip(16 * 60_000);
  const [told] = await fixture.list(owner);
  expect(told).toMatchObject({ status: 'pending', waiting_for: [expect.stringContaining('can no longer decrypt')] });
  const { body } = await owner.call('POST', `${fixture.accounts}/${id}/key`, { body: { secret_key: key } });
  expect(body).toMatchObject({ status: 'ready', waiting_for: [] });
});
