/** A site's name in place of its id: every conversation begins with the name. */
import type { ApiClient, ApiResponse, Input } from '#api/operations/inject.ts';
import { refused } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { call } from '#rules/calls/calls.ts';
import { errors } from '#runtime/errors.ts';

type Named = { id: string; name: string; public_id: string };
/** The input with ids, or the response that refuses it. */
export type SiteNames = (operation: Operation, input: Input) => Promise<{ input: Input } | { refusal: ApiResponse }>;

const pagesMax = 20;
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value);

/**
 * Names are looked up among the caller's sites, also those under deletion. A name that is not known yet is looked up
 * again: an earlier call of the message may have made or renamed its site.
 */
export function siteNames(send: ApiClient): SiteNames {
  let known: readonly Named[] = [];
  return async (operation, input) => {
    if (operation.path.startsWith('/b/')) return await withPublicId(input);
    const names = namesIn(operation, input);
    const isKnown = (name: string) => known.some((site) => site.name === name);
    if (!names.every(isKnown)) {
      const read = await allSites(send);
      if ('refusal' in read) return read;
      known = read.sites;
    }
    const missing = names.find((name) => !isKnown(name));
    if (missing !== undefined) return { refusal: refused(operation, noSuchName(missing)) };
    const idOf = (value: unknown) => known.find(({ name }) => name === value)?.id ?? value;
    const fields = fieldsOf(operation).filter((one) => isName(input[one]));
    const ids = Object.fromEntries(fields.map((one) => [one, idOf(input[one])]));
    const sites = sitesOfScope(operation, input)?.map(idOf);
    return { input: { ...input, ...ids, ...(sites && { scope: { ...(input.scope as Input), sites } }) } };
  };

  /** A site's id or name in place of its public id. Sites of others have only the latter. */
  async function withPublicId(input: Input): ReturnType<SiteNames> {
    const { public_id: written } = input;
    const found = () => known.find(({ id, name, public_id }) => [id, name, public_id].some((one) => one === written));
    if (!found()) {
      const read = await allSites(send);
      if ('refusal' in read) return read;
      known = read.sites;
    }
    return { input: { ...input, public_id: found()?.public_id ?? written } };
  }
}

/** The names of sites among the inputs. */
function namesIn(operation: Operation, input: Input): string[] {
  const single = fieldsOf(operation).map((field) => input[field]);
  return [...single, ...(sitesOfScope(operation, input) ?? [])].filter(isName);
}

/** The sites of the scope that a new token gets, if they are a list. */
function sitesOfScope({ name }: Operation, { scope }: Input): unknown[] | undefined {
  const { sites } = (name === 'token.create' ? (scope ?? {}) : {}) as { sites?: unknown };
  return Array.isArray(sites) ? sites : undefined;
}

/** The inputs that take the id of a site. */
function fieldsOf({ path, inputs }: Operation): string[] {
  const ofPath = path.startsWith('/v1/sites/{id}') ? ['id'] : [];
  return [...ofPath, ...inputs.filter(({ name }) => name === 'site_id').map(({ name }) => name)];
}

async function allSites(send: ApiClient): Promise<{ sites: Named[] } | { refusal: ApiResponse }> {
  const sites: Named[] = [];
  for (const status of ['', '&status=deleting']) {
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < pagesMax; pages++) {
      const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const answered = await send('GET', `/v1/sites?limit=200${status}${after}`);
      if (answered.status >= 400) return { refusal: answered };
      sites.push(...((answered.body?.items ?? []) as Named[]));
      cursor = (answered.body?.next_cursor ?? null) as string | null;
    }
  }
  return { sites };
}

const noSuchName = (name: string) =>
  errors.not_found(`There is no site called ${name} that this connection can reach.`, {
    nextAction: `List the sites with ${call('site.list')}, and use a name or an id from there.`,
  });
