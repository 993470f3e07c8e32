import { afterAll, expect, test } from 'vitest';
import { inToolNames } from '#rules/calls/tool-names.ts';
import { createFixture } from '#test/api/fixture.ts';
import { connect } from './fixture.ts';

const fixture = await createFixture();
const owner = await fixture.newCaller();
const agent = await connect(fixture.url, owner.token);
afterAll(async () => {
  await agent.close();
  await fixture.close();
});

test('the skill tree is listed as resources, with the names of tools', async () => {
  const { resources } = await agent.client.listResources();
  const { files } = (await owner.call('GET', '/v1/skill')).body as { files: { path: string }[] };
  expect(resources.map(({ name }) => name).sort()).toEqual(files.map(({ path }) => path).sort());
  for (const { uri, name, size } of resources) {
    const { contents } = await agent.client.readResource({ uri });
    const [{ text } = { text: '' }] = contents as { text: string }[];
    const { content } = await agent.call('skill_read', { path: name, limit: 100_000 });
    expect([name, (content as { text: string }[])[0]?.text.slice(0, 2000)]).toEqual([name, text.slice(0, 2000)]);
    expect([name, size]).toEqual([name, Buffer.byteLength(text)]);
    if (name.endsWith('.md')) expect(text).not.toMatch(/\b(GET|POST|PUT|PATCH|DELETE) \/v1/);
  }
  const first = resources.find(({ name }) => name === 'SKILL.md');
  expect(first).toMatchObject({ mimeType: 'text/markdown', annotations: { priority: 1 } });
  for (const uri of ['file:///etc/passwd', `${fixture.config.baseUrl}/skill/../package.json`, 'x']) {
    await expect(agent.client.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  }
});

test('SKILL.md is what is read without a path', async () => {
  const [whole, first] = [await agent.call('skill_read', {}), await agent.call('skill_read', { path: 'SKILL.md' })];
  expect([whole.isError, whole.content]).toEqual([undefined, first.content]);
  expect(JSON.stringify(whole.content)).toContain('## Your tools');
});

test('a page of the skill names operations, with what their address gives', async () => {
  const { content } = await agent.call('skill_read', { path: 'reference/inbox.md' });
  expect(content).toEqual([{ type: 'text', text: expect.stringContaining('`inbox_read') }]);
  expect(inToolNames('`GET /v1/inbox?wait=50&since=…`, `DELETE /v1/sites/{id}/collaborators/me`')).toBe(
    '`inbox_read {"wait":50,"since":"…"}`, `collaborator_leave`',
  );
  expect(inToolNames('the list `?spam=true`, with an `Idempotency-Key`')).toBe(
    'the list `{"spam":true}`, with an `idempotency_key`',
  );
  expect(inToolNames('`POST /v1/sites/{id}/previews/1`: GET /v1/nothing')).toBe(
    '`preview_build {"slot":"1"}`: GET /v1/nothing',
  );
  expect(inToolNames('`GET /b/{public_id}/days?service=cut`')).toBe('`offer_days {"service":"cut"}`');
});
