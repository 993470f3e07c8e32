/** The front door: `/` for people and programs, and the files that browsers and robots look for. */
import { readFileSync } from 'node:fs';
import type { Api } from '#api/api.ts';
import { readSession } from '#api/auth/signin.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { sessionSecret } from '#api/plugins/session.ts';
import type { Deps } from '#runtime/deps.ts';
import { frontPage as writeFrontPage } from '#web/pages/platform/front.ts';
import { prefersHtml, varyByAccept } from './representation.ts';

const icon = readFileSync(new URL('../../web/favicon.ico', import.meta.url));
const daySeconds = 86_400;

/** `GET /`. It sets no cookie. */
export function frontPage(scope: Api, deps: Deps): void {
  const { config, clock } = deps;
  const offers = capabilitiesOf(config);
  const { baseUrl } = config;
  const connects = offers.email_signin;
  const opensAccounts = config.signUp === 'open';
  const pointers = pointersOf(baseUrl, connects);

  scope.get('/', pageOptions('front.show'), async (request, reply) => {
    varyByAccept(reply);
    if (!prefersHtml(request)) return reply.header('cache-control', 'no-cache').send(pointers);
    const secret = sessionSecret(request);
    const isSignedIn = secret !== undefined && (await readSession(request.em, clock, secret)) !== null;
    return sendPage(reply, writeFrontPage({ baseUrl, connects, opensAccounts, isSignedIn, offers }));
  });
}

/** `/robots.txt` (RFC 9309) and `/favicon.ico`. */
export function siteFiles(scope: Api, { config: { baseUrl } }: Pick<Deps, 'config'>): void {
  const robots = `# Agents: ${baseUrl}/llms.txt says what this is and how to use it.\nUser-agent: *\nDisallow: /account\n`;
  const caching = { 'cache-control': `public, max-age=${daySeconds}` };
  scope.get('/robots.txt', pageOptions('front.robots'), async (_request, reply) =>
    reply.headers(caching).type('text/plain; charset=utf-8').send(robots),
  );
  scope.get('/favicon.ico', pageOptions('front.icon'), async (_request, reply) =>
    reply.headers(caching).type('image/x-icon').send(icon),
  );
}

/** What a program needs to start. */
function pointersOf(baseUrl: string, connects: boolean) {
  return {
    name: 'Frontage',
    about: 'Frontage lets an AI agent and its owner make and run websites. Start with llms_txt.',
    llms_txt: `${baseUrl}/llms.txt`,
    mcp: `${baseUrl}/mcp`,
    openapi: `${baseUrl}/openapi.json`,
    errors: `${baseUrl}/errors`,
    docs: `${baseUrl}/docs`,
    ...(connects ? { sign_in: `${baseUrl}/signin` } : {}),
  };
}
