/** A site's name in place of its id: every conversation begins with the name. */
import type { ApiClient, ApiResponse, Input } from '#api/operations/inject.ts';
import { refused } from '#api/operations/invoke.ts';
import type { Operation } from '#api/operations/operations.ts';
import { call } from '#rules/calls/calls.ts';
import { errors } from '#runtime/errors.ts';

type Named = { id: string; name: string };
/** The input with ids, or the response that refuses it. */
export type SiteNames = (operation: Operation, input: Input) => Promise<{ input: Input } | { refusal: ApiResponse }>;

const pagesMax = 20;
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value);

/** Names are looked up among the caller's sites, at most once for a message. */
export function siteNames(send: ApiClient): SiteNames {
  let known: Promise<Named[]> | undefined;
  return async (operation, input) => {
    const fields = fieldsOf(operation).filter((field) => isName(input[field]));
    if (fields.length === 0) return { input };
    known ??= allSites(send);
    const sites = await known;
    const ids: Input = {};
    for (const field of fields) {
      const site = sites.find(({ name }) => name === input[field]);
      if (!site) return { refusal: refused(operation, noSuchName(String(input[field]))) };
      ids[field] = site.id;
    }
    return { input: { ...input, ...ids } };
  };
}

/** The inputs that take the id of a site. */
function fieldsOf({ path, inputs }: Operation): string[] {
  const ofPath = path.startsWith('/v1/sites/{id}') ? ['id'] : [];
  return [...ofPath, ...inputs.filter(({ name }) => name === 'site_id').map(({ name }) => name)];
}

async function allSites(send: ApiClient): Promise<Named[]> {
  const sites: Named[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < pagesMax; pages++) {
    const { body } = await send('GET', `/v1/sites?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    sites.push(...((body?.items ?? []) as Named[]));
    cursor = (body?.next_cursor ?? null) as string | null;
  }
  return sites;
}

const noSuchName = (name: string) =>
  errors.not_found(`There is no site called ${name} that this connection can reach.`, {
    nextAction: `List the sites with ${call('site.list')}, and use a name or an id from there.`,
  });
