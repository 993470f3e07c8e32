/** Previews are a capability: calls of one that is off say so before anything else. */
import { expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { createPreviewFixture, path } from './fixture.ts';

const calls = [
  ['GET', ''],
  ['POST', ''],
  ['POST', '/update'],
  ['POST', '/publish'],
  ['DELETE', ''],
] as const;

async function codesWith(env: Record<string, string>) {
  const fixture = await createPreviewFixture({ env, worker: false });
  try {
    const site = env.FRONTAGE_REPOSITORIES ? { id: 'site_x', name: 'x' } : await fixture.newSite();
    const { body } = await fixture.owner.call('GET', '/v1/account');
    const codes = await Promise.all(
      calls.map(async ([method, act]) => {
        const sent = method === 'GET' ? {} : { body: { odd: 1 } };
        const answer = await fixture.owner.call(method, path(site, 'x', act), sent);
        return errorOf(answer).code;
      }),
    );
    return { on: body.capabilities.previews, codes };
  } finally {
    await fixture.close();
  }
}

test('without previews every call is preview_disabled', async () => {
  const { on, codes } = await codesWith({ FRONTAGE_PREVIEWS: 'off' });
  expect(on).toBe(false);
  expect(codes).toEqual(calls.map(() => 'preview_disabled'));
});

test('without builds drafts are read, published and cleared, and not built', async () => {
  const { on, codes } = await codesWith({ FRONTAGE_SANDBOX: 'off' });
  expect(on).toBe(true);
  expect(codes[1]).toBe('publish_disabled');
  expect(codes[2]).toBe('publish_disabled');
  expect(codes).not.toContain('preview_disabled');
});
