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
export const unshown: Record<string, string> = {
  no_source: 'every starter brings a source, and no test takes the whole of it away before it publishes',
  superseded: 'the state of an overtaken publish is shown; the answer to an overtaken restore needs a race on purpose',
  'a restore while something newer went live is refused': 'the same race, which no test stages yet',
  unarchived_content: 'no test takes bytes out of the store and restores then',
  storage_error: 'no test makes the store fail in the middle of a publish',
  'publishes in an hour': 'no test publishes up to the cap',
};
