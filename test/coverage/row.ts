/** What a row of the coverage list is, and the capabilities that claim rows. */

/** A part of the service that is built as a whole, and that claims its rows then. */
export type Capability =
  | 'publish'
  | 'people'
  | 'material'
  | 'previews'
  | 'comments'
  | 'show'
  | 'visitors'
  | 'money'
  | 'domains'
  | 'agents'
  | 'scale';

/** What stands: every row of these is shown by a test, or is in `unshown` with its reason. */
export const claimed: readonly Capability[] = [
  'publish',
  'people',
  'material',
  'previews',
  'comments',
  'visitors',
  'domains',
  'money',
  'agents',
];

export type Kind = 'endpoint' | 'move' | 'rule' | 'code' | 'limit' | 'event';
export type Row = {
  kind: Kind;
  /** A call, an error code, or one sentence: what the service promises. */
  name: string;
  by: Capability;
  /** The test, by its file and by its name or a part of that. */
  shownBy?: { file: string; test: string };
};

/** A row's name to the file below `test/`, without its ending, and the test; null where no test shows it. */
export type Shown = Record<string, readonly [file: string, test: string] | null>;

export function rowsOf(kind: Kind, by: Capability, shown: Shown): Row[] {
  return Object.entries(shown).map(([name, at]) =>
    at === null ? { kind, name, by } : { kind, name, by, shownBy: { file: `test/${at[0]}.test.ts`, test: at[1] } },
  );
}

export function later(kind: Kind, by: Capability, names: readonly string[]): Row[] {
  return names.map((name) => ({ kind, name, by }));
}
