import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { loadSite, requireOwner } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { disconnectSignal, limitConcurrency } from '#api/concurrency.ts';
import { bytesMax, exportTooLarge } from '#api/mcp/too-large.ts';
import { surfaceOf } from '#api/operations/next-steps.ts';
import { isStillGood, recheckAuthorization } from '#api/plugins/bearer.ts';
import { idParams } from '#api/schemas.ts';
import { recordAct } from '#db/history/recording.ts';
import type { Deps } from '#runtime/deps.ts';
import { openSiteArchive } from './archive.ts';

/** How often an export checks that its token is still valid. */
const recheckMs = 1_000;

/** A site as an archive that its owner keeps. */
export function exportRoutes(app: Api, deps: Deps): void {
  const exports = limitConcurrency('exports');

  app.get(
    '/v1/sites/:id/export',
    {
      // Its length is known only when the archive is written.
      exposeHeadRoute: false,
      config: {
        operation: 'site.export',
        needs: 'read',
        ownerOnly: true,
        capability: 'repositories',
        answers: ['application/x-tar'],
      },
      schema: {
        summary: 'Export a site',
        description:
          'Returns a tar archive: both repositories with all branches, the files of the live version, redirects, forms, the timetable, comments, assets, and visitors’ submissions and bookings. It contains no people, tokens, payments or domains. The operator of any Frontage service can import it. The archive is cut off if the token is revoked or rotated meanwhile. An account can export 2 sites at a time.',
        params: idParams,
        querystring: z.strictObject({
          visitors: z
            .enum(['true', 'false'])
            .default('true')
            .describe('`false` leaves out visitors’ submissions and bookings.'),
        }),
        response: { 200: z.any().describe('The archive.') },
      },
    },
    async (request, reply) => {
      const { em, actor, params, query } = request;
      const site = await loadSite(em, actor, params.id);
      requireOwner(site, actor, 'export it');
      const signal = disconnectSignal(reply);
      return await exports(actor.accountId, reply, async () => {
        const asked = {
          siteId: site.id,
          withVisitors: query.visitors === 'true',
          spoolDir: join(deps.config.dataDir, 'spool'),
          signal,
        };
        const { content } = await openSiteArchive(deps, asked);
        await recheckAuthorization(deps.em(), deps, actor).catch((error) => {
          content.destroy();
          throw error;
        });
        if (signal.aborted) content.destroy();
        void endWith(content, signal, () => isStillGood(deps.em(), deps, actor));
        const sent = surfaceOf(request) === 'mcp' ? await readForTool(content, deps.config, site.id) : content;
        // Before the first byte: an archive that is cut off later was sent in part.
        recordAct(em, deps.clock, actor, 'site.exported', { site, detail: { visitors: asked.withVisitors } });
        await em.flush().catch((error) => {
          content.destroy();
          throw error;
        });
        return reply
          .headers({
            'content-type': 'application/x-tar',
            'content-disposition': `attachment; filename="${site.name}.tar"`,
            'cache-control': 'no-store',
          })
          .send(sent);
      });
    },
  );
}

/** The whole archive, if it fits into the result of a tool. Otherwise nothing of it is sent. */
async function readForTool(content: Readable, config: Deps['config'], siteId: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw exportTooLarge(config, siteId);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Ends the archive when its client has disconnected, or may not read it any more. */
async function endWith(content: Readable, signal: AbortSignal, isGood: () => Promise<boolean>): Promise<void> {
  signal.addEventListener('abort', () => void content.destroy());
  while (!content.closed && !signal.aborted) {
    await pause(recheckMs, undefined, { ref: false });
    // A check that fails says nothing; the next one follows.
    if (!(await isGood().catch(() => true))) content.destroy();
  }
}
