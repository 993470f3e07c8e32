/** The hands of a caller who sends built output. */

import type { Caller } from './fixture.ts';
import { type Fixture, sha256 } from './fixture.ts';

export type Output = Record<string, string | Buffer>;
export const named = (files: Output) =>
  Object.entries(files).map(([path, content]) => ({
    path,
    sha256: sha256(content),
    bytes: Buffer.byteLength(content),
  }));

export function sender(caller: Caller) {
  const begin = async (site: { id: string }) => (await caller.call('POST', `/v1/sites/${site.id}/deployments`)).body;
  const name = (deployment: { id: string }, files: unknown) =>
    caller.call('POST', `/v1/deployments/${deployment.id}/manifest`, { body: { files } });
  const send = (deployment: { id: string }, hash: string, content: string | Buffer) =>
    caller.call('PUT', `/v1/deployments/${deployment.id}/files/${hash}`, {
      raw: content,
      headers: { 'content-type': 'application/octet-stream' },
    });
  const complete = (deployment: { id: string }) => caller.call('POST', `/v1/deployments/${deployment.id}/complete`);

  /** Names these files and sends what is missing; answers how many that were. */
  async function fill(deployment: { id: string }, files: Output): Promise<number> {
    const { status, body, text } = await name(deployment, named(files));
    if (status !== 200) throw new Error(text);
    const contents = new Map(Object.values(files).map((content) => [sha256(content), content]));
    const queue = (body.missing as string[]).values();
    const work = async () => {
      for (const hash of queue) {
        const answer = await send(deployment, hash, contents.get(hash) ?? '');
        if (answer.status !== 200) throw new Error(answer.text);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    return body.missing.length;
  }

  /** All of it: what is live afterwards. */
  async function publish(site: { id: string }, files: Output) {
    const deployment = await begin(site);
    const sent = await fill(deployment, files);
    const { status, body, text } = await complete(deployment);
    if (status !== 200) throw new Error(text);
    return { ...body, sent };
  }
  return { begin, name, send, complete, fill, publish };
}
export type Sender = ReturnType<typeof sender>;

/** What the store holds of these bytes. */
export async function isStored({ deps }: Fixture, content: string | Buffer): Promise<boolean> {
  return (await deps.store.sizes([sha256(content)])).size > 0;
}
