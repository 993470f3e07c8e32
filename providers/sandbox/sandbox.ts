/** The interface of a sandbox: it builds one site once. Its input and its output are hostile. */

import type { Readable } from 'node:stream';
import type { LimitName } from '#rules/limit-names.ts';
import type { SandboxRefusal } from './refusals.ts';

export type BuildLimits = {
  /**
   * Wall-clock time, from the start of the container to the last byte of its output. The worker enforces it (run.ts), so the container of
   * a dead worker has no time limit until it is removed.
   */
  timeoutMs: number;
  memoryBytes: number;
  cpus: number;
  pidsMax: number;
  /** Bytes of log to keep; the rest is counted and dropped. */
  logBytesMax: number;
  outputBytesMax: number;
  outputFilesMax: number;
  fileBytesMax: number;
};

export type BuildRequest = {
  /** What earlier attempts at this deployment left on this engine is removed first, except by `unprotected`. */
  deploymentId: string;
  /** The site as an uncompressed tar: regular files, relative paths, no `node_modules`. */
  source: Readable;
  /** The address where the pages will be served; passed to the framework as `site`. */
  siteUrl: string;
  limits: BuildLimits;
  /** Aborting ends the build within a second and leaves no process behind. */
  signal: AbortSignal;
  /** The build log as it is printed: UTF-8 text, not split at line ends. */
  onLog: (text: string) => void;
  /** Called for each output file, one at a time, in order. `path` is validated: relative, normalised, no link. */
  onFile: (file: { path: string; bytes: number; content: Readable }) => Promise<void>;
  /**
   * Sizes, by SHA-256, of files that this same site already has: the sandbox names them instead of sending them.
   * Awaited during the build.
   */
  held?: Promise<ReadonlyMap<string, number>>;
  /** Called for each output file in `held`; `path` is validated as for `onFile`. */
  onHeld?: (file: { path: string; sha256: string }) => void;
  /** Called when all files and the log are delivered. Publishing need not wait for the rest. */
  onBuilt?: (ms: BuildTimes) => Promise<void>;
  /** The content that an earlier build of this same site gave to `onCache`, or nothing. */
  cache?: Readable;
  /** The only folder of the caches that `onCache` gets, for example `astro/assets/`; all of them by default. */
  cacheFolder?: string;
  /**
   * Called after `onBuilt`, unless the caches are unchanged. We write the tar; its content is hostile like the site.
   */
  onCache?: (content: Readable) => Promise<void>;
};

/** Milliseconds of each build phase, as counted by the runner. For metrics only: site code may have changed them. */
export type BuildTimes = Record<string, number>;

export type BuildOutcome =
  | { status: 'built' }
  | {
      status: 'failed';
      code: 'build_failed' | 'build_timeout' | 'plan_limit';
      message: string;
      /** The limit that the build exceeded, if any. */
      limit?: LimitName;
    };

/** From the strongest to none at all. */
export const sandboxKinds = ['docker', 'bubblewrap', 'namespaces', 'seatbelt', 'unprotected'] as const;
export type SandboxKind = (typeof sandboxKinds)[number];

export interface Sandbox {
  readonly kind: SandboxKind;
  /** The kinds that `auto` would have preferred, and why each does not work here. */
  readonly refusals?: readonly SandboxRefusal[];
  /** Identity of Node, packages and runner together: with equal images, equal source builds to equal output. */
  readonly image: string;
  /** Runs one build. Rejects with the signal's reason when aborted, and on our own faults; the site's are outcomes. */
  build(request: BuildRequest): Promise<BuildOutcome>;
  /**
   * Removes what killed workers left on this engine: our builds whose deployment is not `isUnfinished`. Returns how many. `unprotected`
   * removes only their folders, and stops no process.
   */
  removeOrphanBuilds(isUnfinished: (deploymentId: string) => Promise<boolean>): Promise<number>;
  close(): Promise<void>;
}
