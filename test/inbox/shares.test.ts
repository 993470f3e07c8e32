/** Places that accounts share: who gets one when all are taken. */
import { expect, test } from 'vitest';
import { createShares } from '#runtime/shares.ts';

function fixture({ each, all }: { each: number; all: number }) {
  const shares = createShares({ each, all });
  const ended: string[] = [];
  const busy = new Set<string>();
  return {
    ended,
    busy,
    take: (key: string, name: string) =>
      shares.take(key, { canEnd: () => !busy.has(name), end: () => void ended.push(name) }),
    takeOnly: shares.take,
  };
}

test('a newcomer ends the oldest of the key that has most', () => {
  const { take, ended } = fixture({ each: 4, all: 6 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) take(name.slice(0, 1), name);
  expect(take('c', 'c1')).toBeDefined();
  expect(take('c', 'c2')).toBeDefined();
  expect(ended).toEqual(['a1', 'a2']);
});

test('nobody is ended when all have the same share', () => {
  const { take, ended } = fixture({ each: 4, all: 6 });
  for (const name of ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']) take(name.slice(0, 1), name);
  expect(take('a', 'a3')).toBeUndefined();
  take('d', 'd1');
  expect(take('d', 'd2')).toBeUndefined();
  expect(ended).toEqual(['a1']);
});

test('only holders that wait are ended, and only for one that can end', () => {
  const { take, takeOnly, busy, ended } = fixture({ each: 4, all: 4 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(name.slice(0, 1), name);
  busy.add('a1');
  expect(takeOnly('b')).toBeUndefined();
  expect(take('b', 'b1')).toBeDefined();
  expect(ended).toEqual(['a2']);
});

test('an ended holder frees nothing again', () => {
  const { take } = fixture({ each: 2, all: 2 });
  const [free] = [take('a', 'a1'), take('a', 'a2')];
  expect(take('b', 'b1')).toBeDefined();
  free?.();
  expect(take('c', 'c1')).toBeUndefined();
});
