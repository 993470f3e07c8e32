import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite, errorOf } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

async function readAll(call: Awaited<ReturnType<typeof fixture.newCaller>>['call'], limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await call('GET', `/v1/sites?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  return ids;
}

test('pages contain every site once, newest first, even if a site is added meanwhile', async () => {
  const owner = await fixture.newCaller();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.unshift((await createSite(owner)).id);
  expect(await readAll(owner.call, 2)).toEqual(made);
  expect(await readAll(owner.call, 5)).toEqual(made);

  const { body: first } = await owner.call('GET', '/v1/sites?limit=2');
  await createSite(owner);
  const { body: next } = await owner.call('GET', `/v1/sites?limit=3&cursor=${first.next_cursor}`);
  expect(next.items.map(({ id }: { id: string }) => id)).toEqual(made.slice(2));
  expect(next.next_cursor).toBe(null);
});

test('a list has 50 items by default', async () => {
  const owner = await fixture.newCaller();
  for (let n = 0; n < 51; n++) await owner.call('POST', '/v1/tokens', { body: { name: `token ${n}` } });
  expect((await owner.call('GET', '/v1/tokens')).body.items).toHaveLength(50);
  const { body } = await owner.call('GET', '/v1/tokens?limit=200');
  expect([body.items.length, body.next_cursor]).toEqual([52, null]);
});

test('a cursor that was altered, of another list, or of another account is invalid_cursor', async () => {
  const [owner, stranger] = await Promise.all([fixture.newCaller(), fixture.newCaller()]);
  for (let n = 0; n < 2; n++) await createSite(owner);
  await owner.call('POST', '/v1/tokens', { body: { name: 'second' } });
  const { body } = await owner.call('GET', '/v1/sites?limit=1');
  const cursor: string = body.next_cursor;
  expect((await owner.call('GET', `/v1/sites?cursor=${cursor}`)).status).toBe(200);

  const flipped = [...cursor].map((letter, index) => {
    const other = letter === 'A' ? 'B' : 'A';
    return cursor.slice(0, index) + other + cursor.slice(index + 1);
  });
  const refused = [
    ...flipped.map((altered) => owner.call('GET', `/v1/sites?cursor=${altered}`)),
    owner.call('GET', `/v1/sites?cursor=${cursor}A`),
    owner.call('GET', `/v1/sites?cursor=${cursor}=`),
    owner.call('GET', `/v1/sites?cursor=${cursor.slice(0, -1)}`),
    owner.call('GET', `/v1/tokens?cursor=${cursor}`),
    stranger.call('GET', `/v1/sites?cursor=${cursor}`),
  ];
  for (const answer of await Promise.all(refused)) {
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_cursor']);
  }
});
