/** Limits of a thread, and that each comment is stored once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personOf } from '#api/access.ts';
import { changeThreadStatus, replyTo } from '#api/comments/rules.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { newId } from '#runtime/ids.ts';
import { errorOf } from '#test/api/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { type CommentFixture, createCommentFixture } from './fixture.ts';

let fixture: CommentFixture;
beforeAll(async () => {
  fixture = await createCommentFixture({}, { open_comments_per_site: 5 });
});
afterAll(() => fixture?.close());

const full = async (owner: Awaited<ReturnType<CommentFixture['newOwner']>>, id: string) => {
  for (const answer of [await owner.reply(id, 'More'), await owner.resolve(id, 'More')]) {
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'plan_limit']);
  }
  // What is full can still be settled.
  expect((await owner.resolve(id)).body.status).toBe('resolved');
  expect((await owner.reopen(id)).body.status).toBe('open');
};

test('a thread has at most 60,000 characters', async () => {
  const owner = await fixture.newOwner();
  const { id } = (await owner.open('x'.repeat(4000))).body;
  for (let n = 1; n < 15; n++) expect((await owner.reply(id, 'x'.repeat(4000))).status).toBe(200);
  await full(owner, id);
});

test('a thread has at most 500 messages', async () => {
  const owner = await fixture.newOwner();
  const { id } = (await owner.open()).body;
  await fixture.deps.em().execute(
    `insert into comment_message (id, thread_id, account_id, author_kind, body, created_at)
     select 'msg_' || n, thread_id, account_id, author_kind, 'x', created_at
     from comment_message, generate_series(1, 498) as n where thread_id = ?`,
    [id],
  );
  expect((await owner.reply(id, 'The last')).status).toBe(200);
  await full(owner, id);
});

test('a repeated comment is stored once, even after a lost response', async () => {
  const owner = await fixture.newOwner();
  const { id } = (await owner.open()).body;
  const author = { ...personOf(owner.accountId), kind: 'agent' } as const;
  const said = { messageId: newId('msg'), message: 'Once' };
  const noted = { messageId: newId('msg'), action: 'resolve', note: 'Done' } as const;
  for (let n = 0; n < 2; n++) await replyTo(fixture.deps.em(), fixture.deps, author, id, said);
  for (let n = 0; n < 2; n++) await changeThreadStatus(fixture.deps.em(), fixture.deps, author, id, noted);
  const [thread] = (await owner.list()).body.items;
  expect(thread.messages.map(({ body }: { body: string }) => body)).toEqual(['Larger, please.', 'Once', 'Done']);
});

test('a thread resolved during replies has all of them, and is resolved', async () => {
  const owner = await fixture.newOwner();
  const { id } = (await owner.open()).body;
  const replies = Array.from({ length: 10 }, (_, n) => owner.reply(id, `Reply ${n}`));
  const answers = await Promise.all([...replies, owner.resolve(id, 'Done'), owner.resolve(id)]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const [thread] = (await owner.list()).body.items;
  expect([thread.status, thread.messages.length]).toEqual(['resolved', 12]);
});

test('a comment and a publish of its site do not deadlock', async () => {
  const owner = await fixture.newOwner();
  const { comment } = await fixture.deps.em().transactional(async (tx) => {
    await lockSite(tx, owner.site.id);
    const comment = owner.open();
    await untilBlocked(fixture.deps);
    await lockAccount(tx, owner.accountId);
    return { comment };
  });
  expect((await comment).status).toBe(200);
});
