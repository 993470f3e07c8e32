/** What a hostile program is, and the ways to write one. */
import type { BuildLimits } from '#providers/sandbox/sandbox.ts';
import { type Site, siteThatRuns, siteThatWrites } from '#test/sandbox/fixture.ts';

export type End = 'built' | 'build_failed' | 'build_timeout' | 'plan_limit';
export type HostileProgram = {
  what: string;
  files: Site;
  /** Each is right; where there are several, the machine's speed decides. */
  ends: End[];
  says?: RegExp;
  limits?: Partial<BuildLimits>;
  /** Of those that CI runs, too. */
  brief?: boolean;
};

export const megabyte = 1_048_576;
export const short = { timeoutMs: 6_000 };
const imports = `import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'; import { spawn } from 'node:child_process';`;
/** Runs as the configuration is read, before the framework has done anything. */
export const runs = (code: string) => siteThatRuns(`${imports}\n${code}`);
/** Runs when the output is written, with `dist` as its folder. */
export const writes = (code: string) => siteThatWrites(code);
export const tells = (expression: string) =>
  writes(`fs.writeFileSync(dist + 'told.json', JSON.stringify(${expression}));`);
export const tried = (code: string) =>
  `(() => { try { ${code}; return 'DONE'; } catch (e) { return e.code ?? String(e); } })()`;
