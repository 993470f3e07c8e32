import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addToSketch,
  countOf,
  mergeSketch,
  newSketch,
  readSketch,
  type Sketch,
  writeSketch,
} from '#db/analytics/hyperloglog.ts';

function sketchOf(from: number, count: number, seed = 0): Sketch {
  const sketch = newSketch();
  for (let n = from; n < from + count; n++) addToSketch(sketch, hash('sha256', `${seed} ${n}`, 'buffer'));
  return sketch;
}

test('an empty sketch counts zero', () => {
  expect(countOf(newSketch())).toBe(0);
});

test.each([1, 2, 3, 10, 30])('%i visitors are counted with an error of at most one', (visitors) => {
  const off = Array.from({ length: 40 }, (_, seed) => Math.abs(countOf(sketchOf(0, visitors, seed)) - visitors));
  expect(Math.max(...off)).toBeLessThanOrEqual(1);
  expect(off.filter((one) => one === 0).length).toBeGreaterThanOrEqual(visitors > 10 ? 20 : 36);
});

test.each([300, 3_000, 10_000, 30_000, 200_000])('%i visitors are counted right within a few percent', (visitors) => {
  const seeds = visitors > 100_000 ? 3 : 10;
  const off = Array.from({ length: seeds }, (_, seed) => countOf(sketchOf(0, visitors, seed)) / visitors - 1);
  expect(Math.max(...off.map(Math.abs))).toBeLessThan(0.065);
  // It leans to neither side.
  expect(Math.abs(off.reduce((sum, one) => sum + one, 0) / off.length)).toBeLessThan(0.02);
});

test('a returning visitor is counted once, on any edge', () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.nat(2_000), fc.nat(2_000), (a, b, from) => {
      const union = sketchOf(0, a);
      mergeSketch(union, sketchOf(from, b));
      const whole = sketchOf(0, a);
      for (let n = from; n < from + b; n++) addToSketch(whole, hash('sha256', `0 ${n}`, 'buffer'));
      expect(Buffer.compare(union, whole)).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test('a sketch is stored and read unchanged, and a small one takes few bytes', () => {
  for (const visitors of [0, 1, 5, 1_000, 1_500, 2_000, 50_000]) {
    const sketch = sketchOf(0, visitors);
    expect(Buffer.compare(readSketch(writeSketch(sketch)), sketch)).toBe(0);
    expect(writeSketch(sketch).length).toBeLessThanOrEqual(Math.min(3 * visitors, 4096));
  }
});

test('invalid bytes are rejected', () => {
  for (const bytes of [1, 2, 4, 4097, 6000])
    expect(() => readSketch(Buffer.alloc(bytes))).toThrow('not a valid HyperLogLog sketch');
});
