/** The history of a site. */
import { sendPage } from '#api/plugins/browser.ts';
import { type Action, actions } from '#rules/history.ts';
import { dayMs } from '#rules/time.ts';
import { type EntryShown, historyPage, spans } from '#web/console/history.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Console, consolePage, type Named, siteFrameOf } from './frame.ts';
import { read } from './reading.ts';

type Entry = Omit<EntryShown, 'says'> & { action: Action };

export function historyPages(console: Console): void {
  const { app, deps } = console;
  app.get<Named>(sitePath(':id', 'history'), consolePage('history'), async (request, reply) => {
    const { site, frame } = await siteFrameOf(request, reply, deps);
    const { since, cursor } = request.query as { since?: unknown; cursor?: unknown };
    const [span, , days] = spans.find(([name]) => name === since) ?? spans[0];
    const midnight = Math.floor(deps.clock.now().getTime() / dayMs) * dayMs;
    const { items, next_cursor } = await read<{ items: Entry[]; next_cursor: string | null }>(
      console,
      request,
      'site.history',
      {
        id: site.id,
        limit: 50,
        // A cursor belongs to one list, so its beginning must not change within a day.
        ...(days === null ? {} : { since: new Date(midnight - (days - 1) * dayMs).toISOString() }),
        ...(typeof cursor === 'string' ? { cursor } : {}),
      },
    );
    const entries = items.map((item) => ({ ...item, says: actions[item.action].says }));
    return sendPage(reply, historyPage(frame, { entries, span, next: next_cursor }));
  });
}
