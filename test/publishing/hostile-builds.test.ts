/** Hostile builds over HTTP: their owners' errors, and that the worker's next publish goes live. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutControlCharacters } from '#providers/sandbox/log.ts';
import type { ErrorBody } from '#runtime/errors.ts';
import { type Caller, createFixture, createSite, errorOf, type Fixture, limitsIn } from '#test/api/fixture.ts';
import { openKind, siteThatRuns, siteThatWrites } from '#test/sandbox/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

type Worker = Awaited<ReturnType<typeof startWorker>>;

describe('a hostile build', { tags: 'docker' }, () => {
  let fixture: Fixture;
  let owner: Caller;
  let worker: Worker;
  /** The worker's own, so that what never ends ends soon. */
  let limits: Record<'site_files' | 'build_seconds', number>;
  beforeAll(async () => {
    fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
    owner = await fixture.newCaller();
    limits = { ...limitsIn(fixture.config), site_files: 500, build_seconds: 200 };
    const sandbox = await openKind('docker');
    const plans = fixture.config.plans.map((plan) => ({ ...plan, limits })) as unknown as Fixture['config']['plans'];
    const config = { ...fixture.config, plans };
    worker = await startWorker({ ...fixture.deps, config }, { sandbox });
  }, 300_000);
  afterAll(async () => {
    await worker?.close();
    await fixture?.close();
  });

  /** Publishes a site of these files and a home page. Answers its end: of the call, or of the deployment where the machine is slow. */
  async function publish(files: Record<string, string | Buffer>) {
    const site = await createSite(owner, { template: null });
    const changes = Object.entries({ 'src/pages/index.astro': '<h1>Hello</h1>', ...files }).map(([path, text]) => ({
      path,
      text: String(text),
    }));
    const commit = await owner.call('POST', `/v1/sites/${site.id}/commits`, {
      body: { message: 'Change it', changes },
    });
    expect(commit.status, commit.text).toBe(200);
    const path = `/v1/sites/${site.id}/publish`;
    const answer = await owner.call('POST', path, { body: {}, headers: { prefer: 'wait=50' } });
    if (answer.status !== 200) return { status: answer.status, error: errorOf(answer) };
    const read = () => owner.call('GET', `/v1/deployments/${answer.body.id}`);
    await expect.poll(async () => (await read()).body.finished_at, { timeout: 120_000, interval: 200 }).not.toBeNull();
    return (await read()).body as { status: unknown; error?: ErrorBody };
  }

  const config = (files: Record<string, string | Buffer>) => ({ 'astro.config.mjs': files['astro.config.mjs'] ?? '' });
  const writes = (code: string) => config(siteThatWrites(code));
  const runs = (code: string) => config(siteThatRuns(code));

  const refused = [
    {
      what: 'that links to a file of the machine',
      files: writes(`fs.symlinkSync('/etc/passwd', dist + 'leak.txt');`),
      error: { code: 'build_failed', message: expect.stringContaining('leak.txt') },
    },
    {
      what: 'that leaves what nobody may read',
      files: writes(`fs.mkdirSync(dist + 'shut'); fs.chmodSync(dist + 'shut', 0);`),
      error: { code: 'build_failed', message: expect.stringContaining('shut') },
    },
    {
      what: 'that leaves too many files',
      files: writes(`for (let i = 0; i < 600; i++) fs.writeFileSync(dist + i, '');`),
      error: { code: 'plan_limit', message: expect.stringContaining('500') },
    },
    {
      what: 'that says its end itself, in colours',
      files: runs(
        `import fs from 'node:fs'; console.log('\\u001b[2Jgone'); fs.writeSync(3, '{"message":"\\\\u001b[31mmine"}'); process.exit(1);`,
      ),
      error: { code: 'build_failed', message: expect.stringContaining('mine') },
    },
  ];
  test('gets one plain message about its fault', { timeout: 240_000 }, async () => {
    const answers = await Promise.all(refused.map(({ files }) => publish(files)));
    for (const [at, { what, error }] of refused.entries()) {
      expect({ what, ...answers[at]?.error }).toMatchObject({ what, ...error, retryable: false });
      const said = `${answers[at]?.error?.message} ${answers[at]?.error?.detail}`;
      expect(withoutControlCharacters(said)).toBe(said);
    }
  });

  test('that never ends is stopped at its time limit; the next build goes live', {
    timeout: 240_000,
  }, async () => {
    limits.build_seconds = 5;
    const talks = runs(
      `import fs from 'node:fs'; for (;;) try { fs.writeSync(1, 'and on '.repeat(9999) + '\\n'); } catch {}`,
    );
    const deaf = runs(`console.log('I am deaf'); process.on('SIGTERM', () => {}); for (;;);`);
    const answers = await Promise.all([publish(talks), publish(deaf)]);
    for (const { status, error } of answers) {
      expect(status).toBe(422);
      expect(error).toMatchObject({
        code: 'build_timeout',
        retryable: false,
        message: expect.stringContaining('5 seconds'),
      });
      expect(error?.detail?.length).toBeLessThan(70_000);
    }
    limits.build_seconds = 200;
    expect((await publish({ 'src/pages/index.astro': '<h1>Well</h1>' })).status).toBe('live');
  });
});
