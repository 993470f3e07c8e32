/** A site's overview. */
import { sendPage } from '#api/plugins/browser.ts';
import { overviewPage } from '#web/console/overview.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';

export function overviewPages({ app, deps }: Console): void {
  app.get<Named>('/account/sites/:id', consolePage('overview'), async (request, reply) => {
    const { site, frame } = await siteFrameOf(request, reply, deps);
    return sendPage(reply, overviewPage(frame, { live: site.liveDeploymentId !== null }));
  });
}
