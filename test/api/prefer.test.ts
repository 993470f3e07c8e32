import { expect, test } from 'vitest';
import { readPreference } from '#api/plugins/prefer.ts';

test.each([
  [undefined, 20_000, undefined],
  ['wait=5', 5_000, 'wait=5'],
  ['wait=0', 0, 'wait=0'],
  ['wait=50', 50_000, 'wait=50'],
  ['wait=51', 50_000, 'wait=50'],
  ['WAIT = "7"; foo=bar', 7_000, 'wait=7'],
  ['respond-async', 0, 'respond-async'],
  ['respond-async, wait=10', 0, 'respond-async'],
  ['return=minimal, wait=3', 3_000, 'wait=3'],
  ['wait=soon', 20_000, undefined],
  ['wait=-1', 20_000, undefined],
  ['wait=1.5', 20_000, undefined],
  [['return=minimal', 'wait=4'], 4_000, 'wait=4'],
  [`${'wait=x,'.repeat(10_000)}wait=2`, 2_000, 'wait=2'],
])('Prefer: %j waits %i ms and is answered with %j', (header, waitMs, applied) => {
  expect(readPreference(header)).toEqual({ waitMs, applied });
});
