/** All hostile programs, and their possible outcomes. */
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
