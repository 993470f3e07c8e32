/**
 * `npm run docs`: writes the pages that are generated from the code. `npm run docs -- --pictures` also draws the
 * pictures of e-mails, with Chromium. Run that when an e-mail changes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsPage } from './docs/errors-page.ts';
import { drawMails } from './docs/mail-pictures.ts';
import { allExamples, mailsPage } from './docs/mails-page.ts';
import { settingsPage } from './docs/settings-page.ts';

const docs = join(import.meta.dirname, '../../docs');
writeFileSync(join(docs, 'errors.md'), errorsPage());
writeFileSync(join(docs, 'settings.md'), settingsPage());
writeFileSync(join(docs, 'mails.md'), mailsPage());
if (process.argv.includes('--pictures')) await drawMails(join(docs, 'mails'), allExamples());
