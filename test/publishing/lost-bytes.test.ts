/** Responses to callers when bytes are missing from the store. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { Deployment } from '#db/deployments/deployment.ts';
import { blobPath } from '#providers/store/disk.ts';
import { createFixture, createSite, errorOf, sha256 } from '#test/output/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

test('restoring a version with lost bytes is unarchived_content with the file, and changes nothing', async () => {
  const site = await createSite(owner);
  const old = await fixture.publish(site.id, owner.accountId, { 'index.html': 'the old page', 'same.txt': 'same' });
  const live = await fixture.publish(site.id, owner.accountId, { 'index.html': 'the new page', 'same.txt': 'same' });
  await rm(blobPath(fixture.config.storeDir as string, sha256('the old page')));
  const answer = await owner.call('POST', `/v1/deployments/${old}/restore`);
  expect([answer.status, errorOf(answer).code, errorOf(answer).retryable]).toEqual([409, 'unarchived_content', false]);
  expect(errorOf(answer).message).toContain('index.html');
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.live_deployment_id).toBe(live);
});

test('an unreadable manifest is a temporary storage_error', async () => {
  const site = await createSite(owner);
  const id = await fixture.publish(site.id, owner.accountId, { 'index.html': 'a page of its own' });
  const { manifestSha256 } = await fixture.deps.em().findOneOrFail(Deployment, { id });
  await rm(blobPath(fixture.config.storeDir as string, manifestSha256 as string));
  const answer = await owner.call('GET', `/v1/deployments/${id}/files`);
  expect([answer.status, errorOf(answer).code, errorOf(answer).retryable]).toEqual([502, 'storage_error', true]);
  expect(answer.text).not.toMatch(/sha256|ENOENT|store\//);
});
