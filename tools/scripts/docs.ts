/** `npm run docs`: writes the pages that are generated from the code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsPage } from './docs/errors-page.ts';
import { settingsPage } from './docs/settings-page.ts';

const docs = join(import.meta.dirname, '../../docs');
writeFileSync(join(docs, 'errors.md'), errorsPage());
writeFileSync(join(docs, 'settings.md'), settingsPage());
