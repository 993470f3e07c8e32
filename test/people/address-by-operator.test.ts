/** A deployment without mail: nobody can confirm an address, so an operator changes it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { type Call, callWith, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const change = (call: Call, body: unknown) => call('PATCH', '/v1/account', { body });
const read = async (call: Call) => (await call('GET', '/v1/account')).body;

test('without mail the call is auth_disabled, and an operator changes the address', async () => {
  const silent = await createPeopleFixture({ FRONTAGE_SMTP_URL: '' });
  try {
    const { accountId } = await silent.newOwner();
    const taken = await silent.newOwner();
    const { secret } = await issueToken(silent.deps.em(), silent.clock, accountId, { name: 'first' });
    const call = callWith(silent.url, secret);
    const answer = await change(call, { name: 'Not this', email: 'new@example.com' });
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'auth_disabled']);
    expect((await change(call, { name: 'This' })).body.changed).toEqual(['name']);
    const env = { ...process.env, DATABASE_URL: silent.database.url, FRONTAGE_SECRET: 'x'.repeat(32) };
    const command = (email: string) =>
      promisify(execFile)(
        process.execPath,
        [
          join(import.meta.dirname, '../../operator/admin.ts'),
          'account',
          'email',
          '--account',
          accountId,
          '--email',
          email,
        ],
        { env },
      );
    await command('New@Example.com');
    expect((await read(call)).email).toBe('new@example.com');
    expect((await call('GET', '/v1/account/history')).body.items[0]).toMatchObject({
      action: 'account.address_changed',
      via: { kind: 'platform' },
      detail: { to: 'new@example.com' },
    });
    await expect(command(taken.email)).rejects.toThrow('Another account uses this e-mail address');
    await expect(command('nobody')).rejects.toThrow('not a valid e-mail address');
  } finally {
    await silent.close();
  }
}, 120_000);
