/** The scripts of the console's pages. */
import { readFileSync } from 'node:fs';
import { sendFile } from '#api/plugins/page-files.ts';
import { pageFile } from '#web/page-file.ts';
import { type Console, consolePage } from './frame.ts';

const names = ['progress.js'];

export function scriptRoutes({ app }: Console): void {
  for (const name of names) {
    const file = pageFile(readFileSync(new URL(`../../web/console/${name}`, import.meta.url)), 'script');
    app.get(`/account/scripts/${name}`, consolePage('script'), async (request, reply) =>
      sendFile(request, reply, file, 'private, no-cache'),
    );
  }
}
