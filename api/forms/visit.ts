/** The other parts of a submission: the challenge, the page it was sent from, the return path. */
import type { FastifyRequest } from 'fastify';
import { originOf } from '#api/visitors/origins.ts';
import type { CanonicalUrl } from '#db/domains/canonical-url.ts';
import type { Challenge } from '#providers/challenge/challenge.ts';
import { errors } from '#runtime/errors.ts';
import type { RawValues } from './values.ts';

export const pathLengthMax = 1_000;

export type Visit = {
  answers: RawValues;
  solution: string | undefined;
  /** Path of the page, if known. */
  page: string | null;
  /** `_return`, as received. */
  returnPath: string | undefined;
};

export function splitAnswers(
  given: RawValues,
  request: Pick<FastifyRequest, 'headers'>,
  challenge: Challenge | undefined,
): Visit {
  const names = challenge?.answers ?? ['altcha'];
  const own = new Set<string>([...names, 'altcha', '_return', '_page']);
  const solutions = names.flatMap((name) => given.get(name) ?? []).filter((text) => text !== '');
  return {
    answers: new Map([...given].filter(([name]) => !own.has(name))),
    solution: solutions.at(-1),
    page: pageOf(given.get('_page')?.at(-1), request.headers.referer),
    returnPath: given.get('_return')?.at(-1) || undefined,
  };
}

/** Browsers send other origins only their own origin, so a page may name its path itself. */
function pageOf(said: string | undefined, referer: string | undefined): string | null {
  if (said !== undefined && isPath(said)) return said;
  const path = referer === undefined ? undefined : URL.parse(referer)?.pathname;
  return path !== undefined && path !== '/' && isPath(path) ? path : null;
}

/**
 * The address to return to, on the host that the visitor came from if that is the site's, or else on its canonical one:
 * browsers follow no further redirect from our pages. Throws `invalid_return_path` for any other.
 */
export function readReturnPath(
  { address }: Pick<CanonicalUrl, 'address'>,
  own: ReadonlySet<string>,
  request: Pick<FastifyRequest, 'headers'>,
  path: string | undefined,
): string | undefined {
  if (path === undefined) return undefined;
  const origin = originOf(request);
  const base = origin !== undefined && own.has(origin) ? origin : address;
  const target = isPath(path) ? URL.parse(path, base) : null;
  if (target && target.origin === new URL(base).origin) return target.href;
  throw errors.invalid_return_path('_return is not a path on this website.', {
    nextAction:
      'In the form’s HTML, set _return to a path such as /thanks/, or remove it and set return_path of the form.',
  });
}

/** An absolute path on this host: browsers read `//` and a backslash as the start of another host (WHATWG URL standard). */
export function isPath(text: string): boolean {
  return text.length <= pathLengthMax && /^\/(?![/\\])[^\\\p{C}\s]*$/u.test(text);
}
