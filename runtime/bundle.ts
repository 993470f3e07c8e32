/** Scripts that are written as modules and delivered as one file. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

type Target = Required<Pick<BuildOptions, 'format' | 'target'>> & Pick<BuildOptions, 'platform' | 'banner'>;

/** For `<script type="module">`. */
export const browserModule: Target = { format: 'esm', target: 'esnext' };
/** For an inline script: its names stay out of the global scope. */
export const inlineScript: Target = { format: 'iife', target: 'esnext' };

/** A function that returns the entry and its modules as one file, which is built at its first call. A `.css` import is its text. */
export function bundled(entry: URL, target: Target): () => string {
  let text: string | undefined;
  return () => {
    text ??= bundle(fileURLToPath(entry), target);
    return text;
  };
}

function bundle(entry: string, target: Target): string {
  const { outputFiles } = buildSync({
    ...target,
    // The output names modules by their paths from here, whatever the process's own directory is.
    absWorkingDir: dirname(entry),
    entryPoints: [entry],
    bundle: true,
    write: false,
    charset: 'utf8',
    loader: { '.css': 'text' },
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild wrote no file for ${entry}.`);
  return file.text;
}
