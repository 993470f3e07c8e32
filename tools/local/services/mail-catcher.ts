/** The process of the mail catcher: receives and shows the e-mails of `npm start` and acceptance tests. */
import { systemClock } from '#runtime/clock.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';

const { MAIL_CATCHER_SMTP_PORT, MAIL_CATCHER_WEB_PORT, MAIL_CATCHER_FOLDER } = process.env;

const catcher = await startMailCatcher({
  ports: { smtp: Number(MAIL_CATCHER_SMTP_PORT), web: Number(MAIL_CATCHER_WEB_PORT) },
  ...(MAIL_CATCHER_FOLDER ? { folder: MAIL_CATCHER_FOLDER } : {}),
  clock: systemClock,
});
process.send?.({ ready: true });

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void catcher.close().then(() => process.exit(0)));
}
