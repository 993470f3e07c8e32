import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { blockSite } from '#db/sites/transitions.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from './fixture.ts';
import { openSend } from './slow.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial();
});
afterAll(() => material.close());

test('an upload is refused when its link expires or its site is blocked meanwhile', async () => {
  const em = () => material.deps.em();
  const ends: [string, (owner: { accountId: string; siteId: string }, id: string) => Promise<unknown>][] = [
    ['expired', (_, id) => em().execute('update upload_link set ended_at = now() where id = ?', [id])],
    ['site_archived', ({ siteId }) => blockSite(em(), material.clock, siteId, 'It shows what is not its own.')],
    ['site_archived', ({ accountId }) => blockAccount(em(), material, accountId, 'It shows what is not its own.')],
  ];
  for (const [code, end] of ends) {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    const slow = openSend(link.address, 'a.png');
    await slow.write(sample.png.subarray(0, 20));
    await slow.begun();
    await end(owner, link.id);
    const { body } = await slow.end(sample.png.subarray(20));
    expect(body.error?.code).toBe(code);
    expect(await material.assetFiles(owner.siteId)).toEqual([]);
  }
});

/** Lets statements of a table fail until the returned function is called; with `deferred`, the end of their transaction. */
async function refuse(when: string, table: string, deferred = false): Promise<() => Promise<unknown>> {
  const em = material.deps.em();
  const [kind, how] = deferred ? ['constraint trigger', 'after'] : ['trigger', 'before'];
  await em.execute(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create ${kind} refuse ${how} ${when} on ${table} ${deferred ? 'deferrable initially deferred' : ''}
      for each row execute function refuse()`);
  return () => em.execute(`drop trigger refuse on ${table}; drop function refuse`);
}

/** The commits by calls in the history of the owner's site. */
async function committed(owner: Awaited<ReturnType<Material['owner']>>) {
  const { items } = (await owner.call('GET', `/v1/sites/${owner.siteId}/history`)).body;
  return items.filter(({ action }: { action: string }) => action === 'repository.committed');
}

test.each([
  ['before', false, []],
  ['after', true, ['src/assets/a.png']],
])('a photo whose record fails %s its commit arrives once sent again', async (_when, deferred, stored) => {
  const owner = await material.owner();
  const link = await material.link(owner, owner.siteId, { max_files: 1 });
  const arrived = async () =>
    (await owner.call('GET', '/v1/inbox')).body.items.filter(({ kind }: { kind: string }) => kind === 'photos_arrived');
  const accept = await refuse('update of last_file_at', 'upload_link', deferred);
  try {
    const { status, body } = await material.send(link, 'a.png', sample.png);
    expect([status, body.error]).toEqual([
      502,
      {
        code: 'storage_error',
        message: 'We could not save this photo just now. Please send it again in a minute.',
        retryable: true,
      },
    ]);
  } finally {
    await accept();
  }
  expect([await arrived(), await material.assetFiles(owner.siteId)]).toEqual([[], stored]);
  expect((await material.send(link, 'a.png', sample.png)).status).toBe(200);
  expect(await material.assetFiles(owner.siteId)).toEqual(['src/assets/a.png']);
  const [item] = await arrived();
  expect(item).toMatchObject({
    id: link.id,
    message: 'The newest is src/assets/a.png.',
    title: expect.stringMatching(/^A photo has arrived/),
  });
  // The link's only place is taken.
  expect((await material.send(link, 'b.jpg', sample.jpgOf(1, 1))).body.error.code).toBe('plan_limit');
  // Where git had the commit before, the clean-up adds its entry.
  await sweep(material.deps);
  await sweep(material.deps);
  const detail = { commit: await material.deps.repositories?.head(owner.siteId, 'source'), source: 'upload_link' };
  expect(await committed(owner)).toMatchObject([{ via: { kind: 'person' }, detail }]);
});

test.each([['asset'], ['history_entry']])('a file whose record in %s fails is saved once sent again', async (table) => {
  const owner = await material.owner();
  const put = () => material.put(owner, owner.siteId, 'src/assets/a.png', sample.png);
  const used = await material.usedToday(owner);
  const accept = await refuse('insert', table);
  try {
    const { status, body } = await put();
    expect([status, body.error.code, body.error.retryable]).toEqual([502, 'storage_error', true]);
    expect(body.error.next_action).toContain('Send the same request again.');
  } finally {
    await accept();
  }
  expect([await material.assetFiles(owner.siteId), await material.usedToday(owner)]).toEqual([[], used]);
  expect((await put()).status).toBe(200);
  expect(await material.assetFiles(owner.siteId)).toEqual(['src/assets/a.png']);
  expect(await committed(owner)).toHaveLength(1);
});
