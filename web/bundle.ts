/** Bundles a browser script from its modules into one file. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** `module` is for `<script type="module">`; `script` is an inline script, whose names stay out of the global scope. A `.css` import is its text. */
export function bundle(entry: URL, as: 'module' | 'script'): string {
  const { outputFiles } = buildSync({
    // The output names modules by their paths from here, whatever the process's own directory is.
    absWorkingDir: import.meta.dirname,
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: as === 'module' ? 'esm' : 'iife',
    target: 'esnext',
    charset: 'utf8',
    loader: { '.css': 'text' },
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild wrote no file for ${entry.pathname}.`);
  return file.text;
}
