import { hostileHistories } from './histories.ts';
import { hostilePacks } from './packs.ts';
import { hostileTrees } from './trees.ts';

export const hostileRepositories = [...hostileTrees, ...hostileHistories, ...hostilePacks];
