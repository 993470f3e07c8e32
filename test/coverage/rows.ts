/** The coverage list: all that the service promises, the capability that claims it, and the test that shows it. */
import { codes } from './codes.ts';
import { endpoints } from './endpoints.ts';
import { events } from './events.ts';
import { limits } from './limits.ts';
import { moves } from './moves.ts';
import type { Row } from './row.ts';
import { rules } from './rules.ts';

export const rows: Row[] = [...endpoints, ...moves, ...rules, ...codes, ...limits, ...events];

/** Claimed rows that no test shows yet, each with the reason. A row leaves this list with the test that shows it. */
export const unshown: Record<string, string> = {};
