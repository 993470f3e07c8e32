/** What a sandbox is: hostile source in, hostile output out, one site once. */

import type { Readable } from 'node:stream';
import type { LimitName } from '#rules/limits.ts';

export type BuildLimits = {
  /** Wall clock, from the start of the container to the last byte of its output. */
  timeoutMs: number;
  memoryBytes: number;
  cpus: number;
  pidsMax: number;
  /** Bytes of log kept; what is said after that is counted and dropped. */
  logBytesMax: number;
  outputBytesMax: number;
  outputFilesMax: number;
  fileBytesMax: number;
};

export type BuildRequest = {
  deploymentId: string;
  /** Number of the try at this deployment; containers of earlier tries are removed first. */
  attempt: number;
  /** The site as an uncompressed tar: regular files, relative paths, without `node_modules`. */
  source: Readable;
  /** The address the pages will be served under; given to the framework as `site`. */
  siteUrl: string;
  limits: BuildLimits;
  /** Aborting ends the build within a second and leaves no process behind. */
  signal: AbortSignal;
  /** The build log as it is printed: UTF-8 text, not cut at line ends. */
  onLog: (text: string) => void;
  /** Called once for each output file, one at a time, in the order they arrive. `path` is checked: relative, normal, no link. */
  onFile: (file: { path: string; bytes: number; content: Readable }) => Promise<void>;
  /** Sizes, by SHA-256, of files that this very site has already: they are named, and do not come again. Asked for while it builds. */
  held?: Promise<ReadonlyMap<string, number>>;
  /** Called once for each output file that is held; `path` is checked as for `onFile`. */
  onHeld?: (file: { path: string; sha256: string }) => void;
  /** All files and the log were handed over. Who waits for the site need not wait for what comes after. */
  onBuilt?: (ms: BuildTimes) => Promise<void>;
  /** What `onCache` was given by an earlier build of this very site, or nothing. */
  cache?: Readable;
  /** Called after `onBuilt`, unless the caches are as they were given: a tar of our own making, its content as hostile as the site. */
  onCache?: (content: Readable) => Promise<void>;
};

/** Milliseconds of each step as the runner counts them. For figures only: site code may have had a hand in them. */
export type BuildTimes = Record<string, number>;

export type BuildOutcome =
  | { status: 'built' }
  | {
      status: 'failed';
      code: 'build_failed' | 'build_timeout' | 'plan_limit';
      message: string;
      /** The cap that the build met, where it met one. */
      limit?: LimitName;
    };

export interface Sandbox {
  readonly kind: 'docker' | 'bubblewrap' | 'unprotected';
  /** Identity of Node, packages and runner together: equal images build equal source to equal output. */
  readonly image: string;
  /** Runs one build. Rejects with the signal's reason when aborted, and on faults of our own; the site's faults are outcomes. */
  build(request: BuildRequest): Promise<BuildOutcome>;
  /** Removes what killed workers left: every build of ours whose deployment is not `isRunning`. Answers how many. */
  sweep(isRunning: (deploymentId: string) => Promise<boolean>): Promise<number>;
  close(): Promise<void>;
}
