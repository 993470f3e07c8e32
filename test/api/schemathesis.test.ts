import { expect, test } from 'vitest';
import { judgementOf } from './schemathesis.ts';

const written = (more: object = {}) =>
  JSON.stringify({ complete: true, exit_code: 0, failures: [], errors: [], test_cases: { generated: 9 }, ...more });

test('a response unlike its description is a failure, whatever else happened in the run', () => {
  const failures = [{ type: 'ServerError', count: 1 }];
  expect(judgementOf(written({ failures, exit_code: 1 }))).toEqual({ failures, broken: [], generated: 9 });
  const errors = [{ title: 'Runtime Error', count: 1 }];
  expect(judgementOf(written({ failures, errors, complete: false })).failures).toEqual(failures);
  expect(judgementOf(written())).toEqual({ failures: [], broken: [], generated: 9 });
});

test('an API that is down or badly described is a failure', () => {
  for (const title of [
    'Network Error',
    'Server Unavailable',
    'Schema Error',
    'Invalid Link Definition',
    'Anything new',
  ])
    expect(judgementOf(written({ errors: [{ title, count: 1 }] })).failures).toEqual([{ title, count: 1 }]);
});

test('a failure inside Schemathesis itself is not a result', () => {
  const errors = [{ title: 'Runtime Error', count: 2 }];
  expect(judgementOf(written({ errors, exit_code: 1 }))).toEqual({
    failures: [],
    broken: ['Runtime Error'],
    generated: 9,
  });
  expect(judgementOf(undefined).broken).toEqual(['no report']);
  expect(judgementOf(written({ complete: false })).broken).toEqual(['not complete']);
  expect(judgementOf(written({ exit_code: 2 })).broken).toEqual(['exit code 2']);
});
