/** What a step of a random sequence draws. */
import { identifies, type Model, type Scope, type Thing } from './endings-model.ts';
import type { World } from './endings-world.ts';

/** Numbers that were drawn for a step. */
export type Drawn = { by: number; what: number; how: number };
export type Run = { world: World; model: Model };
/** Returns what happened, for whoever reads a failure. */
export type Step = (run: Run, drawn: Drawn) => Promise<string>;

export const one = <Of>(all: readonly Of[], drawn: number): Of => all[drawn % all.length] as Of;

/** A token or client, of any account unless one is given: mostly one that works. */
export function callerFrom({ world, model }: Run, drawn: number, account?: number): Thing {
  const all = model.things.filter(({ scope, ...thing }) => scope && (account ?? thing.account) === thing.account);
  const working = all.filter((thing) => identifies(model, thing, world.now()));
  return one(drawn % 4 === 0 || working.length === 0 ? all : working, drawn >> 2);
}

/** Half of what happens concerns the site that two accounts share. */
export const siteFrom = ({ what }: Pick<Drawn, 'what'>) => (what % 4) % 3;

export function scopeFrom({ what, how }: Drawn): Scope {
  const sites = how % 3 === 0 ? [siteFrom({ what })] : 'all';
  return { sites, access: how % 4 === 1 ? 'read' : 'write', account: how % 5 !== 1 };
}
