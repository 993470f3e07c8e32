import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { showProgress } from '#tools/local/progress.ts';

test('without a terminal each state of a step is printed once', async () => {
  const output = new PassThrough();
  const progress = showProgress(output);
  await progress.step('The demo site', async (note) => {
    for (const state of ['building', 'building', 'building', 'storing', 'storing', 'live']) note(state);
  });
  progress.close();
  output.end();
  const lines = (await text(output)).trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/ \(.*/, ''))).toEqual([
    '… The demo site: building',
    '… The demo site: storing',
    '… The demo site: live',
    '✓ The demo site',
  ]);
});

test('a start survives its terminal, so that it can stop everything', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('write EIO')) });
  const progress = showProgress(output);
  const failed = new Promise((resolve) => output.once('close', resolve));
  progress.line('… stopping');
  await failed;
  progress.line('✓ Stopped.');
  progress.close();
});
