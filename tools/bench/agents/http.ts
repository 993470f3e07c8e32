/** An agent that calls the API itself. */
import { operations } from '#rules/calls/operations.ts';
import type { Surface } from './surface.ts';
import { requireOutcome, size } from './surface.ts';
import { filled, type Step } from './task.ts';

export function httpSurface(baseUrl: string, token: string): Surface {
  const read = async (path: string) => await (await fetch(new URL(path, baseUrl))).text();
  let described: Record<string, Record<string, unknown>> = {};
  /** Operations that the agent has looked up in the description, before it first calls them. */
  const seen = new Set<string>();
  function lookUp({ operation }: Step): number {
    if (seen.has(operation)) return 0;
    seen.add(operation);
    const [method = '', path = ''] = operations[operation].split(' ');
    return size(JSON.stringify(described[path]?.[method.toLowerCase()]));
  }
  return {
    name: 'HTTP',
    async start() {
      described = parse(await read('/openapi.json')).paths;
      return { calls: 2, bytes: size(await read('/llms.txt'), await read('/skill/SKILL.md')) };
    },
    async run(_what, steps, known) {
      let bytes = 0;
      for (const step of steps) bytes += lookUp(step) + (await once(baseUrl, token, step, known));
      return { calls: steps.length, bytes };
    },
    close: async () => {},
  };
}

async function once(baseUrl: string, token: string, step: Step, known: Map<string, unknown>): Promise<number> {
  const { method, path, body } = requestOf(step, known);
  const answered = await fetch(new URL(path, baseUrl), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      prefer: 'wait=50',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answered.text();
  const parsed = parse(text);
  requireOutcome(step, answered.ok ? undefined : (parsed?.error?.code ?? String(answered.status)), text);
  known.set(step.operation, text);
  if (step.as) known.set(step.as, parsed ?? text);
  return size(`${method} ${path}`, body ?? '', text);
}

// biome-ignore lint/suspicious/noExplicitAny: what a task reads of an answer is what it expects.
export function parse(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function requestOf(step: Step, known: Map<string, unknown>) {
  const [method = '', path = ''] = operations[step.operation].split(' ');
  const given = { ...(filled(step.arguments ?? {}, known) as Record<string, unknown>) };
  const place = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String(given[name]);
    delete given[name];
    return value.split('/').map(encodeURIComponent).join('/');
  });
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(given))
      for (const one of [value].flat()) query.append(name, String(one));
    return { method, path: query.size > 0 ? `${place}?${query}` : place, body: undefined };
  }
  return { method, path: place, body: JSON.stringify(given) };
}
