/** Watches our source; changes in quick succession cause one call. */
import { readFileSync, watch as watchFolder } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** The folders that a container image includes, and the files beside them. */
const folders = [...readFileSync(join(root, '.dockerignore'), 'utf8').matchAll(/^!([a-z]+)$/gm)]
  .map(([, folder = '']) => folder)
  .concat('.');

export function watchSource(onChange: (file: string) => void): void {
  let timer: NodeJS.Timeout | undefined;
  for (const folder of folders) {
    watchFolder(join(root, folder), { recursive: folder !== '.' }, (_event, file) => {
      if (file === null || !/\.(ts|mjs|json)$/.test(file)) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, 200, join(folder, file));
    });
  }
}
