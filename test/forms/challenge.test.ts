/** A verifier elsewhere in place of our own challenge, stood in for by a server of the test; and what browsers load from us. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { widgetFiles } from '#api/forms/files.ts';
import { createFixture, errorOf } from '#test/api/fixture.ts';
import { ada, challengeEnv, forms } from './fixture.ts';

test('an external verifier checks each solution once, and its failures do not name it', async () => {
  const asked: string[] = [];
  let down = false;
  const verify = async (request: IncomingMessage, answer: ServerResponse) => {
    asked.push(await text(request));
    if (down) return void answer.writeHead(503).end('cloudy');
    answer.setHeader('content-type', 'application/json');
    answer.end(
      JSON.stringify({ success: new URLSearchParams(asked.at(-1)).get('response')?.startsWith('good') === true }),
    );
  };
  const verifier = createServer((request, answer) => void verify(request, answer));
  await new Promise<void>((ready) => verifier.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(verifier.address() as AddressInfo).port}`;
  const fixture = await createFixture({
    ...challengeEnv,
    FRONTAGE_CHALLENGE: 'turnstile',
    FRONTAGE_CHALLENGE_URL: url,
    FRONTAGE_CHALLENGE_SITE_KEY: 'public key',
  });
  try {
    const ask = forms(fixture);
    const owner = await fixture.newCaller();
    const form = await ask.newForm(owner);
    expect(form.challenge).toMatchObject({ kind: 'hosted' });
    const send = async (name: string, token: string) =>
      await ask.visitor('POST', `/f/${form.id}`, { body: { ...ada, [name]: token } });
    expect(errorOf(await send('cf-turnstile-response', 'bad')).code).toBe('not_a_person');
    expect((await send('cf-turnstile-response', 'good 1')).status).toBe(200);
    expect(errorOf(await send('cf-turnstile-response', 'good 1')).code).toBe('not_a_person');
    expect((await send('altcha', 'good 2')).status).toBe(200);
    expect(new URLSearchParams(asked[0]).get('secret')).toBe(challengeEnv.FRONTAGE_CHALLENGE_KEY);
    down = true;
    const refused = await send('altcha', 'good 3');
    expect([refused.status, errorOf(refused)]).toMatchObject([502, { code: 'provider_error', retryable: true }]);
    expect(refused.text).not.toMatch(/cloud|turnstile|127\.0\.0\.1/i);
    expect((await ask.submissions(owner, form.id)).body.items).toHaveLength(2);
  } finally {
    await fixture.close();
    verifier.close();
  }
});

test('the widget is one module below 30 KB, and pages load only our files', async () => {
  const fixture = await createFixture(challengeEnv);
  try {
    const load = async (path: string, headers = {}) => await fetch(`${fixture.url}${path}`, { headers });
    const packed = await load('/f/widget.js', { 'accept-encoding': 'gzip' });
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(30_000);
    expect(packed.headers.get('access-control-allow-origin')).toBe('*');
    expect(await packed.text()).toContain('customElements.define("frontage-form"');
    const etag = packed.headers.get('etag') ?? '';
    expect((await load('/f/widget.js', { 'if-none-match': etag })).status).toBe(304);
    for (const path of Object.values(widgetFiles)) {
      const file = await load(path, { 'accept-encoding': 'identity' });
      expect([path, file.status, file.headers.get('cache-control')]).toEqual([
        path,
        200,
        expect.stringContaining('immutable'),
      ]);
    }
    expect((await load('/f/files/x.js')).status).toBe(404);
  } finally {
    await fixture.close();
  }
});
