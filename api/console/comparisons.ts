/** Pages of a version beside those of an earlier one, and the form that starts it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '#api/plugins/browser.ts';
import type { Refused } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type ComparisonPage, comparisonPage, progressOf } from '#web/console/versions/comparison.ts';
import { type Action, action } from './actions.ts';
import { type Console, consolePage, siteFrameOf, siteOfPage } from './frame.ts';
import { read, requireOfSite, sendFile } from './reading.ts';

type Compared = Omit<ComparisonPage, 'version' | 'against' | 'slot'> & { deployment_id: string; against: string };
type Version = { id: string; site_id: string; number: number };
type Slot = { slot: number; deployment_id: string | null; holds_work: boolean };
type OfComparison = { Params: { id: string; comparison: string } };

/** `show`: the page of a version, with a refusal. */
export function comparisonPages(console: Console, show: Action['show']): void {
  const { app, deps } = console;
  const path = '/account/sites/:id/comparisons/:comparison';

  action(console, {
    path: '/account/sites/:id/versions/:version/compare',
    operation: 'deployment.compare',
    input: ({ params }) => ({ id: (params as unknown as { version: string }).version }),
    done: ({ id }, { params }) => ({
      to: `${sitePath(params.id)}/comparisons/${id}`,
      notice: 'The comparison was started.',
    }),
    show,
  });

  app.get<OfComparison>(path, consolePage('comparison'), async (request, reply) =>
    showComparison(request, reply, null),
  );

  app.get<OfComparison>(`${path}/progress`, consolePage('comparison_progress'), async (request, reply) => {
    const { status } = await readComparison(request);
    const isOver = status === 'done' || status === 'failed';
    reply.header('cache-control', 'no-store');
    return {
      status: progressOf(status),
      isOver,
      log: '',
    };
  });

  app.get<{ Params: OfComparison['Params'] & { number: string } }>(
    `${path}/pictures/:number`,
    consolePage('comparison_picture'),
    async (request, reply) => {
      const { id } = await readComparison(request);
      const picture = `/v1/comparisons/${id}/pictures/${encodeURIComponent(request.params.number)}`;
      return await sendFile(console, request, reply, picture);
    },
  );

  async function showComparison(request: FastifyRequest<OfComparison>, reply: FastifyReply, refused: Refused | null) {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    const { deployment_id, against, ...compared } = await readComparison(request);
    const [version, earlier] = [await readVersion(request, deployment_id), await readVersion(request, against)];
    const slots = await previewsOf(request, site.id);
    const slot = slots.find((one) => one.deployment_id === version.id && one.holds_work)?.slot ?? null;
    return sendPage(reply, comparisonPage(frame, { ...compared, version, against: earlier, slot }), refused?.status);
  }

  const readVersion = (request: FastifyRequest, id: string) =>
    read<Version>(console, request, 'deployment.read', { id });

  /** The comparison of the path, if it is one of the site there. */
  async function readComparison(request: FastifyRequest<OfComparison>): Promise<Compared> {
    await siteOfPage(request);
    const found = await read<Compared>(console, request, 'comparison.read', { id: request.params.comparison });
    requireOfSite(request, await readVersion(request, found.deployment_id));
    return found;
  }

  /** None where the service offers none. */
  async function previewsOf(request: FastifyRequest, id: string): Promise<Slot[]> {
    const isOn = deps.config.previews && deps.repositories;
    return isOn ? (await read<{ items: Slot[] }>(console, request, 'preview.list', { id })).items : [];
  }
}
