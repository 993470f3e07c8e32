/** Visits of a site. */
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type VisitorDays, type VisitorsPage, visitorDays, visitorsCsv, visitorsPage } from '#web/console/visitors.ts';
import { type Console, type Named, siteFrameOf, siteOfPage } from './frame.ts';
import { read } from './reading.ts';

type Asked = Named & { Querystring: { days?: unknown } };

export function visitorPages(console: Console): void {
  const { app, deps } = console;
  const readAll = (request: Parameters<typeof read>[1], id: string, days: VisitorDays) =>
    read<VisitorsPage>(console, request, 'site.analytics', { id, period: `${days}d` });
  const path = sitePath(':id', 'visitors');

  app.get<Asked>(path, pageOptions('console.visitors', ['email_signin', 'analytics']), async (request, reply) => {
    const { site, frame } = await siteFrameOf(request, reply, deps);
    const days = daysOf(request.query);
    return sendPage(reply, visitorsPage(frame, await readAll(request, site.id, days), days));
  });

  app.get<Asked>(
    `${path}.csv`,
    pageOptions('console.visitors_csv', ['email_signin', 'analytics']),
    async (request, reply) => {
      const { id, name } = await siteOfPage(request);
      const csv = visitorsCsv(await readAll(request, id, daysOf(request.query)));
      reply.headers({
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="${name}-visitors.csv"`,
      });
      return reply.type('text/csv; charset=utf-8').send(csv);
    },
  );
}

const daysOf = ({ days: asked }: Asked['Querystring']): VisitorDays =>
  visitorDays.find((days) => String(days) === asked) ?? visitorDays[0];
