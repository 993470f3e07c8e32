/** Scripts that are written as modules and delivered as one file. */
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync, version } from 'esbuild';

type Target = Required<Pick<BuildOptions, 'format' | 'target'>> & Pick<BuildOptions, 'platform' | 'banner'>;

/** For `<script type="module">`. */
export const browserModule: Target = { format: 'esm', target: 'esnext' };
/** For an inline script: its names stay out of the global scope. */
export const inlineScript: Target = { format: 'iife', target: 'esnext' };

/** A function that returns the entry and its modules as one file, which is built at its first call. A `.css` import is its text. */
export function bundled(entry: URL, target: Target): () => string {
  let text: string | undefined;
  return () => {
    text ??= cachedBundle(fileURLToPath(entry), target);
    return text;
  };
}

type Bundle = { text: string; inputs: { path: string; sha256: string }[] };

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** The bundle beside Node's compiled code, if its sources are unchanged: a start of esbuild takes 0.1 s. */
function cachedBundle(entry: string, target: Target): string {
  const folder = getCompileCacheDir();
  if (folder === undefined) return bundle(entry, target).text;
  const file = join(folder, `bundle-${sha256(JSON.stringify([version, entry, target]))}.json`);
  const known = readBundle(file);
  if (known) return known.text;
  const made = bundle(entry, target);
  try {
    const part = `${file}.${randomUUID()}`;
    writeFileSync(part, JSON.stringify(made));
    renameSync(part, file);
  } catch {
    // The folder may be read-only.
  }
  return made.text;
}

/** Undefined if there is none, or one of its sources has changed. */
function readBundle(file: string): Bundle | undefined {
  try {
    const known: Bundle = JSON.parse(readFileSync(file, 'utf8'));
    return known.inputs.every((input) => sha256(readFileSync(input.path)) === input.sha256) ? known : undefined;
  } catch {
    return undefined;
  }
}

function bundle(entry: string, target: Target): Bundle {
  const folder = dirname(entry);
  const { outputFiles, metafile } = buildSync({
    ...target,
    // The output names modules by their paths from here, whatever the process's own directory is.
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    charset: 'utf8',
    loader: { '.css': 'text' },
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild wrote no file for ${entry}.`);
  const paths = Object.keys(metafile.inputs).map((path) => join(folder, path));
  return { text: file.text, inputs: paths.map((path) => ({ path, sha256: sha256(readFileSync(path)) })) };
}
