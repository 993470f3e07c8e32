/** A worker that keeps a sandbox warm until it is killed; says so on stdout. The arguments are the kind and the owner. */
import { openKind, roomy } from './fixture.ts';
import type { Kind } from './kinds.ts';

const [kind, owner] = process.argv.slice(2);
await openKind(kind as Kind, owner, { count: 1, limits: roomy, info: (text: string) => console.log(text) });
setInterval(() => {}, 1_000);
