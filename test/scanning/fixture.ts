/** The API with a worker that scans, and the operator's commands. */
import type { Option } from '#operator/commands/command.ts';
import { readCommand } from '#operator/commands/commands.ts';
import { type Caller, createFixture as createOutputFixture, sha256 } from '#test/output/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

export async function createScanningFixture(options: Parameters<typeof startWorker>[1] = {}) {
  const fixture = await createOutputFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
  const worker = await startWorker(fixture.deps, options);

  /** What an operator's command answers. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
  async function operate(...args: string[]): Promise<any> {
    const { command, given } = readCommand(args);
    const { config, clock } = fixture;
    return JSON.parse(
      JSON.stringify(await command?.run({ em: fixture.deps.em(), config, clock }, given as Record<Option, string>)),
    );
  }

  return {
    ...fixture,
    operate,
    flagsOf: async ({ id }: { id: string }) => (await operate('flags', 'list', '--site', id)).items,
    /** Uploads these files as built output, over the wire, and makes them live. */
    async upload(owner: Caller, site: { id: string }, files: Record<string, string>): Promise<string> {
      const { body } = await owner.call('POST', `/v1/sites/${site.id}/deployments`);
      const named = Object.entries(files).map(([path, text]) => ({
        path,
        sha256: sha256(text),
        bytes: Buffer.byteLength(text),
      }));
      await owner.call('POST', `/v1/deployments/${body.id}/manifest`, { body: { files: named } });
      for (const text of Object.values(files))
        await owner.call('PUT', `/v1/deployments/${body.id}/files/${sha256(text)}`, {
          raw: text,
          headers: { 'content-type': 'application/octet-stream' },
        });
      const done = await owner.call('POST', `/v1/deployments/${body.id}/complete`);
      if (done.body?.status !== 'live') throw new Error(`not live: ${done.text}`);
      return body.id;
    },
    async close() {
      await worker.close();
      await fixture.close();
    },
  };
}
export type ScanningFixture = Awaited<ReturnType<typeof createScanningFixture>>;
