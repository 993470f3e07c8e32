/** Visits of a site. */
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type VisitorsPage, visitorsCsv, visitorsPage } from '#web/console/visitors.ts';
import { type Console, type Named, siteFrameOf, siteOfPage } from './frame.ts';
import { read } from './reading.ts';

export function visitorPages(console: Console): void {
  const { app, deps } = console;
  const readAll = (request: Parameters<typeof read>[1], id: string) =>
    read<VisitorsPage>(console, request, 'site.analytics', { id, period: '30d' });
  const path = sitePath(':id', 'visitors');

  app.get<Named>(path, pageOptions('console.visitors', ['email_signin', 'analytics']), async (request, reply) => {
    const { site, frame } = await siteFrameOf(request, reply, deps);
    return sendPage(reply, visitorsPage(frame, await readAll(request, site.id)));
  });

  app.get<Named>(
    `${path}.csv`,
    pageOptions('console.visitors_csv', ['email_signin', 'analytics']),
    async (request, reply) => {
      const { id, name } = await siteOfPage(request);
      const csv = visitorsCsv(await readAll(request, id));
      reply.headers({
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="${name}-visitors.csv"`,
      });
      return reply.type('text/csv; charset=utf-8').send(csv);
    },
  );
}
