/** What an action did, for the page after it: a sentence in a cookie that the next page of the console shows once. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { clearHostCookie, type pageOptions, setHostCookie } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';

const noticeCookie = '__Host-frontage_notice';
const noticeSeconds = 60;
/** Browsers keep about 4 KB of a cookie. */
const lettersMax = 600;

/** Redirects to the page (a path on this host), which then shows the notice. */
export function redirectWithNotice(reply: FastifyReply, to: string, notice: string, now: Date): FastifyReply {
  const value = Buffer.from(notice.slice(0, lettersMax).toWellFormed()).toString('base64url');
  setHostCookie(reply, noticeCookie, value, new Date(now.getTime() + noticeSeconds * 1000));
  return reply.redirect(to, 303);
}

/** The notice of the action before; null if there is none. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): string | null {
  const { [noticeCookie]: value } = request.cookies;
  if (value === undefined) return null;
  clearHostCookie(reply, noticeCookie);
  const text = Buffer.from(value, 'base64url').toString().slice(0, lettersMax);
  return text === '' ? null : text;
}

/** A button of a page about the thing in its path. `to` is the page after it, which shows the notice. */
export function accountButton(app: Api, { clock }: Pick<Deps, 'clock'>, button: AccountButton): void {
  const { path, options, act, to = '/account', notice } = button;
  app.post<{ Params: { id: string } }>(path, options, async (request, reply) => {
    await act(request);
    return redirectWithNotice(reply, to, notice, clock.now());
  });
}

type AccountButton = {
  path: string;
  options: ReturnType<typeof pageOptions>;
  act: (request: FastifyRequest<{ Params: { id: string } }>) => Promise<unknown>;
  to?: string;
  notice: string;
};
