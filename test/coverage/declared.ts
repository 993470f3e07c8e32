/** What the product declares, as items that `record.mjs` records: routes, errors, next actions, mails, pages. */
import { subscribe } from 'node:diagnostics_channel';
import { tmpdir } from 'node:os';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { buildApp } from '#api/app.ts';
import { inboxKinds } from '#api/inbox/item.ts';
import { ownPage, type PageName } from '#edge/content/pages.ts';
import { systemClock } from '#runtime/clock.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import { catalog } from '#runtime/errors.ts';
import { mails } from '#web/mails/mails.ts';

/** What is declared, and what the record has if it was seen: one of these lines. */
export type Declared = { name: string; seenAs: string[] };

/** Declared, but not to be seen over HTTP, each with the reason. */
const exceptions: Record<string, string> = {
  'error code: not_a_grant': 'only an operator’s command returns it: no call ends a granted plan',
  'error code: paid_subscription_active': 'only an operator’s command returns it: no call grants a plan',
  'GET /mcp: success': 'the endpoint offers no stream',
  'DELETE /mcp: success': 'the endpoint has no sessions',
  'GET /healthz: refusal': 'it has no input, no limit and no dependency',
};

const edgePages: Record<PageName, true> = {
  base: true,
  unknown: true,
  unpublished: true,
  archived: true,
  blocked: true,
  missing: true,
  ended: true,
  gone: true,
  unavailable: true,
  badRequest: true,
  notAllowed: true,
  misdirected: true,
  ready: true,
  shuttingDown: true,
};

/** Builds the API, which connects to nothing until it is called. */
export async function declaredItems(): Promise<Declared[]> {
  const { routes, operations } = await describedApi();
  const itself = (name: string) => ({ name, seenAs: [name] });
  const all: Declared[] = [
    ...routes.map((call) => itself(`${call}: success`)),
    ...operations.map(({ call }) => itself(`${call}: refusal`)),
    ...Object.keys(catalog).map((code) => itself(`error code: ${code}`)),
    ...nextActions(operations),
    ...inboxKinds.map((kind) => itself(`inbox item: ${kind}`)),
    ...Object.keys(mails).map((kind) => itself(`mail: ${kind}`)),
    ...Object.keys(edgePages).map((page) => ({ name: `edge page: ${page}`, seenAs: headsOf(page as PageName) })),
  ];
  const stale = Object.keys(exceptions).filter((exception) => !all.some(({ name }) => name === exception));
  if (stale.length > 0) throw new Error(`exceptions of what is not declared: ${stale.join(', ')}`);
  return all.filter(({ name }) => !(name in exceptions));
}

type Schema = { $ref?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] };
type Described = { responses: Record<string, { content?: Record<string, { schema: Schema }> }> };
/** An operation of the API's description; `answer` is the schema of its JSON, and of an item if that is a list. */
type Operation = { call: string; answer: { name: string; schema: Schema } };

async function describedApi(): Promise<{ routes: string[]; operations: Operation[] }> {
  const routes = new Set<string>();
  subscribe('fastify.initialization', (message) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      // Fastify adds a HEAD to each GET.
      for (const name of [method].flat()) if (name !== 'HEAD') routes.add(`${name} ${url}`);
    }),
  );
  const config = readConfig({
    DATABASE_URL: 'postgres://localhost/none',
    FRONTAGE_DATA: tmpdir(),
    FRONTAGE_SECRET: 'x'.repeat(32),
  });
  const app = await buildApp(createDeps(config, { name: 'api', clock: systemClock, log: pino({ level: 'silent' }) }));
  const { paths, components } = app.swagger() as unknown as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };
  const read = (call: string, schema: Schema = {}): Operation['answer'] => {
    const name = schema.$ref?.split('/').at(-1);
    const own = name === undefined ? schema : (components.schemas[name] ?? {});
    const items = own.properties?.items?.items;
    return items ? read(call, items) : { name: name ?? call, schema: own };
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      const called = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      const call = routes.has(called) ? called : called.replace(/:path$/, '*');
      return { call, answer: read(call, responses['200']?.content?.['application/json']?.schema) };
    }),
  );
  return { routes: [...routes], operations };
}

/** One for each kind of resource with a `next_action`, by whichever operation. */
function nextActions(operations: Operation[]): Declared[] {
  const having = operations.filter(({ answer: { schema } }) =>
    [schema, ...(schema.anyOf ?? [])].some(({ properties }) => properties && 'next_action' in properties),
  );
  return [...Map.groupBy(having, ({ answer }) => answer.name)].map(([name, own]) => ({
    name: `next_action: ${name}`,
    seenAs: own.map(({ call }) => `${call}: next_action`),
  }));
}

/** The heads of both forms of the page. */
function headsOf(page: PageName): string[] {
  return (['html', 'text'] as const).map((form) => {
    const { status, fields } = ownPage(page, form).head;
    const field = (name: string) => fields[fields.indexOf(name) + 1];
    return `edge page: ${status} ${field('content-type')} ${field('content-length')}`;
  });
}
