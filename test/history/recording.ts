/** What a call records in the history. */
import { expect } from 'vitest';
import type { Deps } from '#runtime/deps.ts';
import type { Answer } from '#test/api/fixture.ts';

export type Recorded = {
  action: string;
  via_kind: string;
  via_name: string | null;
  owners_only: boolean;
  detail: unknown;
};

/** The entries that `act` writes, oldest first. */
export async function recordedBy({ em }: Pick<Deps, 'em'>, act: () => Promise<unknown>): Promise<Recorded[]> {
  const [last] = await em().execute<{ id: string | null }[]>('select max(id) as id from history_entry');
  await act();
  return await em().execute<Recorded[]>(
    'select action, via_kind, via_name, owners_only, detail from history_entry where id > ? order by id',
    [last?.id ?? ''],
  );
}

/** Makes the call, which has to succeed, and finds that its token is named with exactly these actions. */
export async function expectRecorded(
  deps: Pick<Deps, 'em'>,
  actions: string | string[],
  act: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Answer | undefined;
  const recorded = await recordedBy(deps, async () => {
    answer = await act();
  });
  expect([answer?.status, answer?.text]).toEqual([200, expect.any(String)]);
  const expected = [actions].flat().map((action) => [action, 'token', 'first']);
  // Entries of one millisecond have no order.
  const got = recorded.map(({ action, via_kind, via_name }) => [action, via_kind, via_name]);
  expect(got.sort()).toEqual(expected.sort());
  return answer as Answer;
}
