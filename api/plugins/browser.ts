/**
 * Browser pages: form bodies, cookies, error pages, and CSRF protection. A POST must come from one of our pages
 * (`Sec-Fetch-Site`, `Origin`) that this browser was shown: its form contains a token made from the browser’s cookie and
 * the signed-in account.
 * So other sites, and programs that open the links in e-mails, cannot submit forms.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import cookie from '@fastify/cookie';
import formBody from '@fastify/formbody';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import type { Requirement } from '#api/capabilities.ts';
import { prefersJson, varyByAccept } from '#api/front/representation.ts';
import { daySeconds } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { newSecret } from '#runtime/ids.ts';
import type { WrittenPage } from '#web/page.ts';
import { type Form, formWith } from '#web/pages/form.ts';
import { noticePage } from '#web/pages/notice.ts';
import { useEntityManager } from './bearer.ts';
import { sendError } from './errors.ts';
import { limitBodyTime } from './sockets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The secret in the browser's cookie; null until it has one. */
    browser: string | null;
  }
}

/** Browsers send a cookie with this prefix to one host only, and only over TLS (on localhost also without). */
const browserCookie = '__Host-frontage_browser';
const cookieFlags = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;
const browserSeconds = daySeconds;
/** Each of the 4000 letters of a reply may be sent as nine bytes. */
const formBytesMax = 65_536;

/** `bodyMs`: the time limit for receiving a form. */
export async function serveBrowsers(scope: Api, deps: Deps, { bodyMs }: { bodyMs?: number } = {}): Promise<void> {
  limitBodyTime(scope, bodyMs);
  scope.removeAllContentTypeParsers();
  await scope.register(cookie);
  await scope.register(formBody, { bodyLimit: formBytesMax });
  scope.decorateRequest('browser', null);
  useEntityManager(scope, deps);
  scope.addHook('onRequest', async (request) => {
    const cookie = request.cookies[browserCookie];
    request.browser = cookie && /^frb_[\w-]{43}$/.test(cookie) ? cookie : null;
  });
  scope.addHook('preHandler', async (request) => {
    if (request.method === 'POST') requireOwnForm(request, deps.config);
  });
  scope.setErrorHandler((error, request, reply) => {
    varyByAccept(reply).header('cache-control', 'no-store');
    return prefersJson(request) ? sendError(error, request, reply) : sendErrorPage(error, request, reply);
  });
}

/** Options of a page's route, which the API description does not contain. */
export function pageOptions(operation: string, capability?: Requirement | readonly Requirement[]) {
  return { config: { operation, ...(capability ? { capability } : {}) }, schema: { hide: true } };
}

/** Creates the forms of a page, which can be sent for a day: each page renews the browser's cookie, or sets its first. */
export function formsFor(request: FastifyRequest, reply: FastifyReply, { config }: Pick<Deps, 'config'>): Form {
  request.browser ??= newSecret('frb');
  reply.setCookie(browserCookie, request.browser, { ...cookieFlags, maxAge: browserSeconds });
  return formWith(formToken(config.secret, request.browser, request));
}

export function setHostCookie(reply: FastifyReply, name: string, value: string, expires: Date): void {
  reply.setCookie(name, value, { ...cookieFlags, expires });
}

export function clearHostCookie(reply: FastifyReply, name: string): void {
  reply.clearCookie(name, cookieFlags);
}

export function sendPage(reply: FastifyReply, { body, headers }: WrittenPage, status = 200): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}

/** The browser's secret and the fields of the form, which has passed the CSRF check. */
export function readForm(request: FastifyRequest): {
  browser: string;
  field(name: string): string | undefined;
  /** The values of a field that may occur several times. */
  all(name: string): string[];
} {
  const fields = (request.body ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
  return {
    browser: request.browser ?? '',
    field(name) {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return isText(value) ? value : undefined;
    },
    all: (name) => (Object.hasOwn(fields, name) ? [fields[name]].flat().filter(isText) : []),
  };
}

function requireOwnForm(request: FastifyRequest, { baseUrl, secret }: Deps['config']): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  const fromElsewhere = site === undefined ? origin !== undefined && origin !== baseUrl : site !== 'same-origin';
  const { field } = readForm(request);
  const sent = Buffer.from(field('form') ?? '');
  const wanted = Buffer.from(request.browser === null ? '' : formToken(secret, request.browser, request));
  if (fromElsewhere || wanted.length === 0 || sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) {
    throw errors.invalid_origin(
      'The page was open for too long, or another browser showed it. Open it again, and repeat what you did.',
    );
  }
}

/** Of the signed-in account too: a page that one person left open cannot act for the next one. */
function formToken(secret: string, browser: string, { session }: Pick<FastifyRequest, 'session'>): string {
  const key = deriveKey(secret, 'form token');
  return createHmac('sha256', key)
    .update(`${browser} ${session?.account.id ?? ''}`)
    .digest('base64url');
}

/** A page that says what went wrong, with the error's status. */
export function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof AppError ? error : asAppError(error, request);
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(known.retryAfterSeconds));
  const notice = { title: titles[known.code] ?? 'Something went wrong', text: known.message };
  // A blocked person would see the same page again.
  const leadsBack = request.session && known.code !== 'access_denied';
  const link = { href: '/account', text: 'Your account' };
  return sendPage(reply, noticePage(leadsBack ? { ...notice, link } : notice), known.status);
}

const titles: Partial<Record<AppError['code'], string>> = {
  not_found: 'We can’t find this page',
  bookings_unavailable: 'You cannot book here',
  not_cancellable: 'This booking cannot be changed here',
  access_denied: 'Your account is blocked',
  account_deleting: 'You deleted this account',
  rate_limited: 'Too many requests',
  auth_disabled: 'Sign-in is not available',
  invalid_origin: 'Please open the page again',
  expired: 'This link has expired',
  email_taken: 'This e-mail address is already in use',
  address_change_pending: 'Your e-mail address changed recently',
  internal: 'Back in a moment',
};

function asAppError(error: unknown, request: FastifyRequest): AppError {
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode < 500)
    return errors.invalid_input('The form could not be read. Open the page again and press its button.');
  request.log.error({ err: error }, 'unexpected failure');
  return errors.internal('Something went wrong on our side. Please try again shortly.');
}
