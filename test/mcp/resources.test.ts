import { afterAll, expect, test } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';
import { connect } from './fixture.ts';

const fixture = await createFixture();
const owner = await fixture.newCaller();
const agent = await connect(fixture.url, owner.token);
afterAll(async () => {
  await agent.close();
  await fixture.close();
});

test('the skill tree is listed as resources, each as it is served', async () => {
  const { resources } = await agent.client.listResources();
  const { files } = (await owner.call('GET', '/v1/skill')).body as { files: { path: string; bytes: number }[] };
  expect(resources.map(({ name, size }) => [name, size]).sort()).toEqual(
    files.map(({ path, bytes }) => [path, bytes]).sort(),
  );
  for (const { uri, name } of resources) {
    const { contents } = await agent.client.readResource({ uri });
    const [{ text } = { text: '' }] = contents as { text: string }[];
    expect(text).toBe((await owner.call('GET', `/skill/${name}`)).text);
  }
  const first = resources.find(({ name }) => name === 'SKILL.md');
  expect(first).toMatchObject({ mimeType: 'text/markdown', annotations: { priority: 1 } });
  for (const uri of ['file:///etc/passwd', `${fixture.config.baseUrl}/skill/../package.json`, 'x']) {
    await expect(agent.client.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  }
});
