/** Visitors can request any challenge: only one query runs at a time. */
import { expect, test } from 'vitest';
import { createChallengeResponder } from '#edge/http/acme-challenges.ts';
import type { ChallengeRow } from '#edge/http/certificates-database.ts';
import { requestOf } from '#edge/http/request.ts';

const token = (n: number) => `token-${String(n).padStart(12, '0')}`;
const get = (host: string, name: string) =>
  requestOf({ method: 'GET', target: `/.well-known/acme-challenge/${name}`, servername: undefined }, ['Host', host]);

test('six hundred requests cause three queries; each host gets its own answer', async () => {
  const queries: number[] = [];
  const row: ChallengeRow = { token: token(1), answer: 'the answer', name: '*.shop.example' };
  const responder = createChallengeResponder({
    async challengeResponses(tokens) {
      queries.push(tokens.length);
      await new Promise(setImmediate);
      return new Map(tokens.includes(row.token) ? [[row.token, row]] : []);
    },
  });
  const ask = (host: string, n: number) => responder.answer(get(host, token(n)));
  const answers = await Promise.all([
    ask('shop.example', 1),
    ask('other.example', 1),
    ...Array.from({ length: 600 }, (_, n) => ask('shop.example', n + 2)),
  ]);
  expect(queries).toEqual([1, 500, 101]);
  expect(answers.slice(0, 3).map((answer) => [answer?.head.status, String(answer?.body)])).toEqual([
    [200, 'the answer'],
    [404, ''],
    [404, ''],
  ]);
});
