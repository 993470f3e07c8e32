import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const bundles = join(import.meta.dirname, '../../runtime/bundle.ts');

test('a bundled script is stored until one of its sources changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontage-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'entry.js'), `import { word } from './word.js'; console.log(word);`);
  writeFileSync(join(folder, 'word.js'), `export const word = 'first';`);
  /** What another process delivers. */
  const bundle = async () => {
    const program = `const { bundled, browserModule } = await import('${bundles}');
      console.log(bundled(new URL('file://${folder}/entry.js'), browserModule)());`;
    const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
    const args = ['--input-type=module', '--eval', program];
    return (await promisify(execFile)(process.execPath, args, { env })).stdout;
  };
  expect(await bundle()).toContain('first');

  const stored = readdirSync(join(folder, 'cache'), { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith('.json'),
  );
  const file = join(folder, 'cache', stored ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('first', 'stored'));
  expect(await bundle()).toContain('stored');

  writeFileSync(join(folder, 'word.js'), `export const word = 'second';`);
  expect(await bundle()).toContain('second');
});
