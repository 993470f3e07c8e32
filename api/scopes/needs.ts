/** What each operation needs of a token's scope. A route declares one of these in `config.needs`. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#api/access.ts';
import { everything, type PartOfScope } from '#rules/scopes.ts';

type Need = {
  /** For people, as in "Scope: `sites:read`." */
  text: string;
  wanted: PartOfScope;
  /** What the call may need besides, depending on its body. Its rules check that with `requireScope`. */
  most?: PartOfScope;
  /** Whether this call is an exception that any token may make. */
  isFree?: (request: Pick<FastifyRequest, 'params'>, actor: Actor) => boolean;
};

export const needs = {
  any: { text: 'any', wanted: {} },
  read: { text: '`sites:read`', wanted: {} },
  write: { text: '`sites:write`', wanted: { access: 'write' } },
  /** Things of the account that may concern any of its sites. */
  all_sites: { text: '`sites:write` for all sites', wanted: { access: 'write', sites: 'all' } },
  repository: {
    text: '`sites:read`; `sites:write` for write access',
    wanted: {},
    most: { access: 'write' },
  },
  payouts: { text: '`payouts`', wanted: { payouts: true } },
  account: { text: '`account`', wanted: { account: true } },
  new_token: { text: '`account`, and all that the new token may do', wanted: { account: true }, most: everything },
  other_token: {
    text: '`account`, but a token may do this to itself',
    wanted: { account: true },
    isFree: ({ params }, { tokenId }) => (params as { id?: string }).id === tokenId,
  },
} as const satisfies Record<string, Need>;

export type NeedName = keyof typeof needs;

/** The need, without the detail of its literal type. */
export const needOf = (name: NeedName): Need => needs[name];
