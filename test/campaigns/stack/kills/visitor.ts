/** A visitor that reads several addresses fifty times a second, and records responses that no visitor may see. */
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestStack } from '#test/stack/stack.ts';

/** All of one version of the site; the first is asked again at the end. */
export const addresses = ['/one/', '/two/', '/three.json'];
const everyMs = 20;

export type Seen = { sets: number; requests: number; faults: string[] };

/** The source whose build answers at `addresses`, each naming the version at its beginning and its end. */
export function pagesOf(version: string): { path: string; text: string }[] {
  const page = `<html lang="en"><head><title>v</title></head><body>[${version}]${' text'.repeat(2000)}[${version}]</body></html>\n`;
  const json = `export const GET = () => new Response('[${version}]' + ' data'.repeat(2000) + '[${version}]');\n`;
  return [
    { path: 'src/pages/one.astro', text: page },
    { path: 'src/pages/two.astro', text: page },
    { path: 'src/pages/three.json.ts', text: json },
  ];
}

/** Starts reading. Answers the function that ends it and tells what was seen. */
export function startVisitor(stack: Pick<TestStack, 'edgeUrl' | 'baseDomain'>, siteName: string): () => Promise<Seen> {
  const seen: Seen = { sets: 0, requests: 0, faults: [] };
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const next = delay(everyMs);
      const fault = await readSet(stack, siteName, seen);
      if (fault) seen.faults.push(fault);
      await next;
    }
  })();
  return async () => {
    stopped = true;
    await running;
    return seen;
  };
}

/** Over one connection, so by one edge process: what begins and ends with a version holds nothing of another. */
async function readSet(stack: Pick<TestStack, 'edgeUrl' | 'baseDomain'>, siteName: string, seen: Seen) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const versions: string[] = [];
  try {
    for (const path of [...addresses, addresses[0] ?? '/']) {
      const { status, text } = await read(stack, siteName, path, agent);
      seen.requests += 1;
      const [first, last, ...more] = [...text.matchAll(/\[([^\]]+)\]/g)].map((match) => match[1]);
      if (status !== 200 || !first || first !== last || more.length > 0) return `${path}: ${status} ${first}…${last}`;
      versions.push(first);
    }
  } catch (error) {
    return String(error);
  } finally {
    agent.destroy();
  }
  seen.sets += 1;
  const mixed = versions[0] === versions.at(-1) && new Set(versions).size > 1;
  return mixed ? `one set held ${versions.join(', ')}` : undefined;
}

async function read(stack: Pick<TestStack, 'edgeUrl' | 'baseDomain'>, siteName: string, path: string, agent: Agent) {
  const { port } = new URL(stack.edgeUrl);
  const host = `${siteName}.${stack.baseDomain}:${port}`;
  return await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, agent, headers: { host } });
    call.once('error', reject);
    call.once('response', (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, text: body.toString() }), reject);
    });
    call.end();
  });
}
