/** What a worker of the queue `builds` has: a sandbox, and nothing of providers. */
import type { Deps } from '../../deps.ts';
import type { Sandbox } from '../../providers/sandbox/sandbox.ts';

export type BuilderDeps = Pick<Deps, 'config' | 'clock' | 'log' | 'em' | 'store'> & { sandbox: Sandbox };
