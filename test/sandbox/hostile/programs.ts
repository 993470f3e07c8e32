/** All hostile programs: what each does, and the ends it may come to. */
import { outside, verdicts } from './escapes.ts';
import { caches, log, output } from './output.ts';
import { memory, processes, time } from './resources.ts';

export const hostilePrograms = [
  ...time,
  ...processes,
  ...memory,
  ...output,
  ...caches,
  ...log,
  ...verdicts,
  ...outside,
];
