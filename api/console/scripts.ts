/** The scripts of the console's pages. */
import { readFileSync } from 'node:fs';
import { sendFile } from '#api/plugins/page-files.ts';
import { pageFile } from '#web/page-file.ts';
import { type Console, consolePage } from './frame.ts';

const scripts = { 'progress.js': 'versions/progress.js' };

export function scriptRoutes({ app }: Console): void {
  for (const [name, path] of Object.entries(scripts)) {
    const file = pageFile(readFileSync(new URL(`../../web/console/${path}`, import.meta.url)), 'script');
    app.get(`/account/scripts/${name}`, consolePage('script'), async (request, reply) =>
      sendFile(request, reply, file, 'private, no-cache'),
    );
  }
}
