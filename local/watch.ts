/** Tells of changes to our source, gathered while they come in quick succession. */
import { watch as watchFolder } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const folders = [
  'api',
  'activities',
  'worker',
  'workflows',
  'edge',
  'git',
  'db',
  'providers',
  'bookings',
  'domains',
  'mails',
  'web',
  'skill',
  'sandbox',
  'telemetry',
  'templates',
  '.',
];

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
