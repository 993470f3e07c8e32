/**
 * Challenges: the visitor's browser does some work, or looks like a person's. They never use who visitors are or have
 * read.
 */
/** How a page shows the challenge: our own widget, or another service's script and an element for it. */
export type Shown = { kind: 'altcha' } | { kind: 'hosted'; scriptUrl: string; elementClass: string; siteKey: string };

export type Verdict =
  /** Accept `once` only once, and remember it until `expiresAt`, when the solution expires. */
  { ok: true; once: Buffer; expiresAt: Date } | { ok: false; expired: boolean };

export type Challenge = {
  shown: Shown;
  /** Names of the form answers that may contain the solution, the usual one first. */
  answers: readonly [string, ...string[]];
  /** A new challenge for this form or site (its id), in its widget's format. */
  issue(subject: string): Promise<Record<string, unknown>>;
  /** Whether the solution is for a challenge of this form or site. Throws `provider_error` if that could not be checked. */
  verify(subject: string, solution: string): Promise<Verdict>;
};
