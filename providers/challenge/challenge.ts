/** What shows that a visitor's browser has done some work, or that its owner looks like a person: never by what he is or has read. */
/** How a page shows the challenge: ours is a widget that we serve; another's is its script and an element for it. */
export type Shown = { kind: 'altcha' } | { kind: 'hosted'; scriptUrl: string; elementClass: string; siteKey: string };

export type Verdict =
  /** To be taken once, and to be remembered until `expiresAt`, by which nobody takes it any more. */
  { ok: true; once: Buffer; expiresAt: Date } | { ok: false; expired: boolean };

export type Challenge = {
  shown: Shown;
  /** Names of the answers that may hold the solution, the usual one first. */
  answers: readonly [string, ...string[]];
  /** A new challenge for this form, as its widget takes it. */
  issue(formId: string): Promise<Record<string, unknown>>;
  /** Whether the solution is one of a challenge for this form. Throws `provider_error` where that could not be found out. */
  verify(formId: string, solution: string): Promise<Verdict>;
};
