import { afterAll, expect, test } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';

const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1' });
afterAll(() => fixture.close());

/** Every route that there is, from Fastify's own picture of them. */
function allRoutes(): { methods: string[]; path: string }[] {
  const parts: string[] = [];
  const lines = fixture.app.printRoutes({ commonPrefix: false }).split('\n');
  return lines.flatMap((line) => {
    const [, indent = '', part = '', methods] = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (part === '') return [];
    parts.length = indent.length / 4;
    parts.push(part);
    return methods ? [{ path: parts.join(''), methods: methods.split(', ') }] : [];
  });
}

const metadata = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
];
const endpoints = ['/oauth/register', '/oauth/token', '/oauth/revoke'];
/** Scripts, styles and widgets of ours that pages of sites load, the same for all. */
const files = /^\/(book|forms|review|overlay|widgets?|embed)\b|\.(js|css|mjs)$/;

test('foreign pages may read the OAuth endpoints and public files alone', async () => {
  const open = new Set<string>();
  const routes = allRoutes();
  expect(routes.length).toBeGreaterThan(140);
  for (const { path, methods } of routes) {
    const address = path.replaceAll(/:\w+/g, 'x').replace('*', 'x');
    for (const method of methods.filter((one) => one !== 'HEAD')) {
      const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
      const answer = await fixture.app.inject({ method: method as 'GET', url: address, headers });
      const told = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
      expect([address, told.includes('access-control-allow-credentials')]).toEqual([address, false]);
      if (told.length > 0) open.add(path);
    }
  }
  const rest = [...open].filter((path) => ![...metadata, ...endpoints].includes(path));
  expect(rest.filter((path) => !files.test(path))).toEqual([]);
  for (const path of [...metadata, ...endpoints]) expect(open).toContain(path);
});

test('a preflight lists the allowed requests, and does not count as a call', async () => {
  for (const path of [...metadata, ...endpoints]) {
    const { status, headers } = await fetch(`${fixture.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'mcp-protocol-version' },
    });
    const method = metadata.includes(path) ? 'GET' : 'POST';
    const told = ['origin', 'methods', 'headers'].map((name) => headers.get(`access-control-allow-${name}`));
    expect([path, status, ...told]).toEqual([path, 204, '*', method, 'content-type, mcp-protocol-version']);
    expect(headers.get('ratelimit-limit')).toBe(null);
  }
});

test('a refusal is readable across origins, and says when to retry', async () => {
  const slow = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1', FRONTAGE_RATE_SCALE: '0.001' });
  try {
    const ask = () =>
      fetch(`${slow.url}/oauth/register`, { method: 'POST', headers: { origin: 'https://app.example' } });
    let answer = await ask();
    for (let n = 0; n < 3 && answer.status !== 429; n++) answer = await ask();
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([429, '*']);
    expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  } finally {
    await slow.close();
  }
});
