/** Tasks of a day's work, as data: calls in a fixed order, and what somebody outside sees afterwards. */
import type { OperationName } from '#rules/calls/operations.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export type Step = {
  operation: OperationName;
  /** `{ $from: ['site', 'id'] }` is a field of the result of that name. */
  arguments?: Arguments;
  /** The name of the result for later steps and tasks. */
  as?: string;
  /** The code of the refusal that the agent meets here. */
  refused?: string;
};

/** What somebody else does before the next step: it is not counted. */
export type Visit = { visitor: 'books' | 'uploads' | 'looks' };

/** What is seen from outside, without the agent's access. Text may name results: `{token.access_token}`. */
export type Seen =
  | { page: string; status?: number; has?: string; lacks?: string; host?: string; location?: string }
  | { url: string; status?: number; has?: string }
  | { mailTo: string; has: string }
  | { token: string; status: number }
  /** The answer of a step that only reads, which the agent tells its owner. */
  | { answer: string; has: string };

export type Task = { name: string; steps: (Step | Visit)[]; seen: Seen[]; before?: number };

export const from = (...path: (string | number)[]) => ({ $from: path });
export const site = from('site', 'id');
export const isVisit = (step: Step | Visit): step is Visit => 'visitor' in step;

/** The value with the results that it names. Throws if there is none. */
export function filled(value: unknown, known: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, known));
  if (typeof value !== 'object' || value === null) return value;
  if ('$from' in value) return valueAt(value.$from as (string | number)[], known);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, known)]));
}

export function valueAt([name, ...path]: readonly (string | number)[], known: ReadonlyMap<string, unknown>): unknown {
  let at = known.get(String(name));
  for (const key of path) at = (at as Record<string | number, unknown> | undefined)?.[key];
  if (at === undefined) throw new Error(`There is no ${[name, ...path].join('.')}.`);
  return at;
}

/** The text with the results that it names in braces. */
export const withResults = (text: string, known: ReadonlyMap<string, unknown>): string =>
  text.replaceAll(/\{([a-z_]+(?:\.\w+)+)\}/g, (_all, path: string) =>
    String(
      valueAt(
        path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        known,
      ),
    ),
  );
