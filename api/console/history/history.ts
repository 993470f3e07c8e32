/** The histories of a site and of the account. */
import type { FastifyRequest } from 'fastify';
import { agentPaths } from '#api/console/agents.ts';
import { type Console, consolePage, frameOf, type Named, siteFrameOf } from '#api/console/frame.ts';
import { cursorOf, type Listed, read } from '#api/console/reading.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { type Action, actions } from '#rules/history.ts';
import { dayMs } from '#rules/time.ts';
import { ofThisSite, sentenceOf } from '#web/console/acts.ts';
import {
  accountHistoryPage,
  accountHistoryPath,
  type EntryShown,
  type HistoryPage,
  historyPage,
  spans,
} from '#web/console/history.ts';
import { sitePath } from '#web/console/tabs.ts';
import { type Known, knownOf, thingOf } from './links.ts';

type Entry = Omit<EntryShown, 'says' | 'path'> & { action: Action; subject: { id: string; name: string | null } };

export function historyPages(console: Console): void {
  const { app, deps } = console;
  app.get<Named>(sitePath(':id', 'history'), consolePage('history'), async (request, reply) => {
    const { site, frame } = await siteFrameOf(request, reply, deps);
    return sendPage(reply, historyPage(frame, await entriesOf(request, 'site.history', { id: site.id })));
  });

  app.get(accountHistoryPath, consolePage('account_history'), async (request, reply) => {
    const page = await entriesOf(request, 'account.history', {});
    return sendPage(reply, accountHistoryPage(frameOf(request, reply, deps), page));
  });

  /** The part of the list that the request's query names. */
  async function entriesOf(request: FastifyRequest, operation: string, of: { id?: string }): Promise<HistoryPage> {
    const { since, ...query } = request.query as { since?: unknown; cursor?: unknown };
    const [span, , days] = spans.find(([name]) => name === since) ?? spans[0];
    const midnight = Math.floor(deps.clock.now().getTime() / dayMs) * dayMs;
    const { items, next_cursor: next } = await read<Listed<Entry>>(console, request, operation, {
      ...of,
      limit: 50,
      // A cursor belongs to one list, so its beginning must not change within a day.
      ...(days === null ? {} : { since: new Date(midnight - (days - 1) * dayMs).toISOString() }),
      ...cursorOf(query),
    });
    const things = await knownOf(deps, request, items, of.id);
    const entries = items.map((item) => {
      const known = things.get(thingOf(item));
      const { says, subject } = named(item, known);
      return { ...item, subject, says: of.id ? ofThisSite(says) : says, path: known?.path ?? null };
    });
    return { entries, agents: await agentPaths(deps, request), span, next };
  }
}

/** Its sentence, and the name of its subject where the sentence does not have it. */
function named({ action, subject, detail }: Entry, known: Known | undefined): Pick<EntryShown, 'says' | 'subject'> {
  const says = sentenceOf({ action, subject, detail }, actions[action].says, known);
  const isSaid = action.startsWith('repository.') || says.includes(subject.name ?? '');
  const names = [known?.name ?? null, isSaid ? null : subject.name].filter((name) => name !== null);
  return { says, subject: { name: names.length > 0 ? names.join(' · ') : null } };
}
