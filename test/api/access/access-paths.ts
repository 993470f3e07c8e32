/** Paths of routes, to resources that exist. */
import type { Sent } from '#test/api/fixture.ts';
import type { AccessFixture } from './access-fixture.ts';
import { type Body, type Entry, table } from './access-table.ts';

export const entryOf = (route: string): Entry => {
  const entry = table[route];
  if (!entry) throw new Error(`${route} has no entry in the access table`);
  return entry;
};

type Parts = Record<string, string>;
const readParts = new WeakMap<AccessFixture, Map<string, Promise<Parts>>>();

/**
 * The parts of the route's path: those of a resource that the owner made, unless it is the fixture's site or deployment. A route that
 * reads gets the same each time; each other route gets new ones.
 */
export async function partsOf(fixture: AccessFixture, route: string): Promise<Parts> {
  const known = route.includes(' /v1/deployments/') ? fixture.deploymentId : fixture.siteId;
  const make = async () => ({ id: known, ...(await entryOf(route).path?.(fixture)) });
  if (!route.startsWith('GET ')) return await make();
  const made = readParts.get(fixture) ?? new Map<string, Promise<Parts>>();
  readParts.set(fixture, made);
  const parts = made.get(route) ?? make();
  made.set(route, parts);
  return await parts;
}

/** The path of `METHOD /path/{with}/{parts}`. */
export const pathWith = (route: string, parts: Record<string, string>): string =>
  route.slice(route.indexOf(' ') + 1).replaceAll(/\{(\w+)\}/g, (_all, name: string) => parts[name] ?? name);

/** The same path to a resource that does not exist. */
export const madeUp = (path: string): string => path.replaceAll(/_[0-9a-z]{26}\b/g, '_01h455vb4pex5vsknk084sn02q');

/** The body that the route takes, as a call sends it. */
export function sentTo(fixture: AccessFixture, route: string): Sent & { body?: Body } {
  const { body, file } = entryOf(route);
  if (file) return { raw: file, headers: { 'content-type': 'application/octet-stream' } };
  if (body === undefined) return {};
  return { body: typeof body === 'function' ? body(fixture) : body };
}
