/** What a worker of the queue `builds` has: a sandbox, and nothing of providers. */

import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import type { Deps } from '#runtime/deps.ts';

export type BuilderDeps = Pick<Deps, 'config' | 'clock' | 'log' | 'em' | 'store'> & { sandbox: Sandbox };
