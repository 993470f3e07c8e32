import { describe, expect, test } from 'vitest';
import { type FilterArchitecture, ownFilter, seccompFilter } from '#providers/sandbox/seccomp.ts';

type Call = { architecture: number; number: number; arguments?: bigint[] };
const verdicts = new Map([
  [0x7fff_0000, 'allowed'],
  [0x8000_0000, 'killed'],
  [0x0005_0001, 'EPERM'],
  [0x0005_0026, 'ENOSYS'],
  [0x0005_0061, 'EAFNOSUPPORT'],
]);

/** Runs the program as the kernel does (classic BPF over `struct seccomp_data`, see seccomp(2)), and counts its steps. */
function judge(program: Buffer, { architecture, number, arguments: given = [] }: Call): string | undefined {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of given.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = program.readUInt16LE(8 * at);
    const k = program.readUInt32LE(8 * at + 4);
    const jump = (holds: boolean) => program.readUInt8(8 * at + (holds ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
    else if (code === 0x45) at += jump((accumulator & k) !== 0);
    else if (code === 0x06) return verdicts.get(k);
    else throw new Error(`instruction ${code}`);
  }
  return 'the end was reached';
}

const machines = {
  x64: { architecture: 0xc000_003e, foreign: 0x4000_0003, clone: 56, socket: 41, ioctl: 16, mount: 165, read: 0 },
  arm64: { architecture: 0xc000_00b7, foreign: 0x4000_0028, clone: 220, socket: 198, ioctl: 29, mount: 40, read: 63 },
};

describe.for(Object.keys(machines) as FilterArchitecture[])('the filter of %s', (name) => {
  const { architecture, foreign, clone, socket, ioctl, mount, read } = machines[name];
  const program = seccompFilter(name);
  const verdict = (number: number, ...given: (number | bigint)[]) =>
    judge(program, { architecture, number, arguments: given.map(BigInt) });

  test('is short, and each call meets a verdict', () => {
    expect(program.length / 8).toBeLessThan(4096);
    for (let number = 0; number < 1_000; number += 1)
      expect(['allowed', 'EPERM', 'ENOSYS', 'EAFNOSUPPORT']).toContain(verdict(number));
  });

  test('allows ordinary work and refuses what only administrators do', () => {
    expect(verdict(read)).toBe('allowed');
    expect(verdict(mount)).toBe('EPERM');
    expect([425, 428, 429, 430, 438, 442, 467].map((number) => verdict(number))).toEqual(Array(7).fill('EPERM'));
    expect([435, 470, 1_000].map((number) => verdict(number))).toEqual(Array(3).fill('ENOSYS'));
  });

  test('lets a process fork, but not into a namespace', () => {
    expect(verdict(clone, 0x120_0011)).toBe('allowed');
    for (const flag of [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000])
      expect(verdict(clone, flag | 17)).toBe('EPERM');
  });

  test('judges arguments by the half that the kernel reads', () => {
    expect(verdict(ioctl, 0, 0x5401)).toBe('allowed');
    expect([0x5412n, 0x1_0000_5412n, 0xffff_ffff_0000_541cn].map((request) => verdict(ioctl, 0, request))).toEqual(
      Array(3).fill('EPERM'),
    );
    expect([1, 2, 10, 0x1_0000_0001].map((family) => verdict(socket, family))).toEqual(Array(4).fill('allowed'));
    expect([verdict(socket, 16, 3, 0), verdict(socket, 16, 3, 12)]).toEqual(['allowed', 'EAFNOSUPPORT']);
    expect([0, 17, 38, 40].map((family) => verdict(socket, family))).toEqual(Array(4).fill('EAFNOSUPPORT'));
  });

  test('kills a process that calls in the manner of another processor', () => {
    expect(judge(program, { architecture: foreign, number: read })).toBe('killed');
    if (name === 'x64')
      expect([0x4000_0000, 0x4000_0200, 0xffff_ffff].map((n) => verdict(n))).toEqual(Array(3).fill('killed'));
  });
});

test('other processors have no filter', () => {
  expect(ownFilter('s390x')).toBeUndefined();
  expect(ownFilter('arm64')).toEqual(seccompFilter('arm64'));
});
