import { expect, test } from 'vitest';
import { seatbeltProfile } from '#providers/sandbox/seatbelt.ts';

const paths = { image: '/data/sandbox/1', node: '/opt/node/bin/node', folder: '/private/var/folders/x/build "1"\\' };
const profile = seatbeltProfile(paths).split('\n');
const rule = (name: string) => profile.filter((line) => line.startsWith(`(allow ${name}`)).join();

test('a profile denies what it does not allow, and allows no network', () => {
  expect(profile.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
  expect(profile.join()).not.toMatch(/network|mach-lookup|iokit|job-creation|file-write-(setugid|unmount)/);
  for (const line of profile.slice(1)) expect(line).toMatch(/^\((deny default|allow [a-z-]+\*?( \(.+\))?)\)$/);
});

test('a build writes its own folder only, and runs programs of the image only', () => {
  expect(rule('file-write*')).toBe(String.raw`(allow file-write* (subpath "/private/var/folders/x/build \"1\"\\"))`);
  expect(rule('process-exec')).toBe('(allow process-exec (subpath "/data/sandbox/1") (literal "/opt/node/bin/node"))');
  expect(rule('signal')).toBe('(allow signal (target same-sandbox))');
});

test('a build reads neither home folders nor settings', () => {
  expect(rule('file-read*')).not.toMatch(/Users|"\/private\/etc|"\/etc|"\/"|"\/private\/var"/);
  expect(rule('file-read-metadata')).toContain('(literal "/private/var/folders")');
});
