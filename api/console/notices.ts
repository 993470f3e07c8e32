/** What an action did, for the page after it: a sentence in a cookie that the next page of the console shows once. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearHostCookie, setHostCookie } from '#api/plugins/browser.ts';

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
