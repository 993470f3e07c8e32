/** Home: what waits for the owner, and their sites. Access requests are answered here. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerRequest, openRequests } from '#api/auth/answers.ts';
import { outcomeNotice, readAnswer, requestView } from '#api/auth/outcomes.ts';
import { isEmptyChoice, type ScopeChoice } from '#api/auth/scope-choice.ts';
import { action } from '#api/console/actions.ts';
import { type Console, consolePage, frameOf, type Named, sessionAccount } from '#api/console/frame.ts';
import type { InboxItem } from '#api/inbox/item.ts';
import { readInbox } from '#api/inbox/rules.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { scopeSitesMax, usualScope } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { Refused } from '#web/console/frame.ts';
import { type HomePage, homePage, type InvitationShown, type RefusalShown } from '#web/console/home/home.ts';
import { wrongCode } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { siteCards } from './site-cards.ts';
import { waitingItems } from './waiting-items.ts';

export function homePages(console: Console): void {
  const { app, deps } = console;
  app.get('/account', consolePage('home'), (request, reply) => show(request, reply, null));

  app.post<Named>(
    '/account/requests/:id',
    pageOptions('access.answer_on_page', 'email_signin'),
    async (request, reply) => {
      const which = { id: request.params.id, email: sessionAccount(request).email };
      const answer = readAnswer(request);
      const again = (text: string) =>
        show(request, reply, faulty(text), answer.approve ? { id: which.id, choice: answer.choice } : undefined);
      if (answer.approve && isEmptyChoice(answer.choice)) return again(noSiteChosen);
      const answered = await answerRequest(request.em, deps, which, answer);
      if (answered.outcome === 'wrong_code')
        return again(wrongCode(answered.triesLeft, answer.approve ? answer.code : ''));
      return sendPage(reply, noticePage(outcomeNotice(answered)), answered.outcome === 'over' ? 410 : 200);
    },
  );

  action(console, {
    path: '/account/inbox/done',
    operation: 'inbox.done',
    input: (_request, { field }) => {
      const payment = field('payment');
      const item = { kind: field('kind'), id: field('id') };
      return { items: payment ? [item, { kind: 'payment_paid', id: payment }] : [item] };
    },
    done: () => ({ to: '/account', notice: 'Done. It will return if something changes.' }),
    gone: { to: '/account', notice: 'This is no longer waiting for you.' },
    show,
  });

  async function show(request: FastifyRequest, reply: FastifyReply, refused: Refused | null, ticked?: Ticked) {
    const page = homePage(frameOf(request, reply, deps, refused), await read(request, ticked));
    return sendPage(reply, page, refused ? refused.status : 200);
  }

  async function read(request: FastifyRequest, ticked?: Ticked): Promise<HomePage> {
    const { em, actor } = request;
    const { email } = sessionAccount(request);
    const sites = await siteCards(em, deps, actor);
    const names = new Map(sites.filter(({ deletion }) => !deletion).map(({ id, name }) => [id, name]));
    const { items } = await readInbox(em, deps, actor, { sites: names, evenDone: true });
    const requests = await openRequests(em, deps.clock.now(), email);
    return {
      requests: requests.map((one) => ({
        id: one.id,
        chosen: one.id === ticked?.id ? ticked.choice : usualScope,
        ...requestView(one),
      })),
      siteChoices: sites
        .filter(({ id }) => names.has(id))
        .slice(0, scopeSitesMax)
        .map(({ id, name, title }) => ({ id, title, hostname: siteHostname(deps.config, name) })),
      refusals: items.flatMap(refusalShown),
      invitations: items.flatMap((item) => invitationShown(item, deps)),
      waiting: waitingItems(items, sites),
      sites,
    };
  }
}

/** What the owner ticked for this request before a wrong code. */
type Ticked = { id: string; choice: ScopeChoice };

const faulty = (text: string): Refused => ({ status: 400, action: '', text, field: null, values: {} });

function refusalShown({ refusal, who, at }: InboxItem): RefusalShown[] {
  return refusal ? [{ agentName: who ?? '', attempt: refusal.attempt, at, link: refusal.page }] : [];
}

function invitationShown({ id, site, invitation }: InboxItem, { config }: Deps): InvitationShown[] {
  return invitation && site ? [{ id, hostname: siteHostname(config, site.name), ...invitation }] : [];
}
