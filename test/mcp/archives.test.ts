import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { tarOf, zipOf } from '#test/output/archives.ts';
import { connect } from './fixture.ts';

const fixture = await createFixture();
const owner = await fixture.newCaller();
const agent = await connect(fixture.url, owner.token);
await agent.tools();
const site = await createSite(owner, { template: 'blank' });
afterAll(async () => {
  await agent.close();
  await fixture.close();
});

test('an archive is sent with the type that its bytes have', async () => {
  const files = [{ name: 'index.html', content: '<!doctype html><title>T</title>' }];
  const tar = await tarOf(files);
  for (const archive of [tar, gzipSync(tar), zipOf(files)]) {
    const { id } = (await agent.call('deployment_create', { id: site.id })).body;
    const sent = await agent.call('deployment_send_archive', { id, base64: archive.toString('base64') });
    expect(sent.body.deployment).toMatchObject({ id, status: 'uploading' });
  }
  const { id } = (await agent.call('deployment_create', { id: site.id })).body;
  expect((await agent.call('deployment_send_archive', { id, text: 'no archive' })).error.code).toBe('invalid_file');
});
