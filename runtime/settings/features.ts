/** Features, sign-in and forms. */
import { z } from 'zod';
import { list, onOff, url } from './types.ts';

export const features = {
  FRONTAGE_FILES: onOff
    .default('on')
    .describe('`off`: assets, upload links and uploads of built output are disabled (`uploads_disabled`).'),
  FRONTAGE_SKETCHES: onOff.default('on').describe('`off`: sketch calls return `sketches_disabled`.'),
  FRONTAGE_SCREENSHOTS: onOff
    .default('off')
    .describe(
      '`on`: screenshots and checks of pages. They need a worker of the queue `screenshots` with Chromium and bubblewrap. `npm start` sets `on` where both work. `off`: their calls return `screenshots_disabled`.',
    ),
  FRONTAGE_BOOKINGS: onOff.default('on').describe('`off`: booking calls return `bookings_unavailable`.'),
  FRONTAGE_PREVIEWS: onOff
    .default('on')
    .describe('`off`: preview calls return `preview_disabled`. Previews are also off if there are no repositories.'),
  FRONTAGE_PHOTOS: z
    .enum(['off', 'offline', 'pexels'])
    .default('off')
    .describe('Source of stock photos: `off`, `offline` (six bundled photos; set by `npm start`) or `pexels`.'),
  FRONTAGE_PEXELS_KEY: z.string().default('').describe('Pexels API key. Required with `pexels`.'),
  FRONTAGE_PEXELS_URL: url.default(new URL('https://api.pexels.com')).describe('URL of the Pexels API.'),
  FRONTAGE_PEXELS_FILE_HOSTS: list
    .default(['images.pexels.com'])
    .describe('Hosts from which Pexels photos may be downloaded.'),
};

export const signIn = {
  FRONTAGE_SIGNUP: z
    .enum(['open', 'closed'])
    .default('closed')
    .describe(
      '`open`: the first approval or sign-in with an e-mail address creates its account. `npm start` sets `open`, or `closed` where builds have no sandbox.',
    ),
  FRONTAGE_EMAIL_SIGNIN: onOff
    .default('on')
    .describe(
      '`off`: access requests and sign-in by e-mail are disabled (`auth_disabled`). They are also disabled if no e-mail can be sent.',
    ),
  FRONTAGE_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .or(z.literal(''))
    .default('')
    .describe(
      'Mail server, as `smtp://user:password@host:587` or `smtps://…`. With `?requireTLS=true`, e-mails are sent only over TLS. Empty: no e-mail is sent, so invitations and sign-in by e-mail are unavailable. `npm start` sets its own mail catcher.',
    ),
  FRONTAGE_MAIL_FROM: z
    .string()
    .default('')
    .describe(
      'Sender (`From`) of all e-mails, as `Name <address>`. In e-mails about a website the name is `<hostname> via Name`.',
    ),
};

export const forms = {
  FRONTAGE_CHALLENGE_KEY: z
    .string()
    .min(16)
    .or(z.literal(''))
    .default('')
    .describe(
      'Key that signs the spam challenges of forms and bookings, or the secret key for the external verifier. At least 16 characters. Empty: forms are disabled (`forms_disabled`), and a website accepts 10 bookings a minute. `npm start` creates one. Changing the key only invalidates challenges that are being solved.',
    ),
  FRONTAGE_CHALLENGE: z
    .enum(['altcha', 'turnstile'])
    .default('altcha')
    .describe(
      'Spam challenge of forms, and of bookings on a busy website. `altcha`: the platform’s own proof of work. `turnstile`: an external verifier, which visitors’ browsers contact.',
    ),
  FRONTAGE_CHALLENGE_ROUNDS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .default(1_000_000)
    .describe('Average number of hashing rounds in a proof of work. A million take half a second on a phone.'),
  FRONTAGE_CHALLENGE_SITE_KEY: z.string().default('').describe('Public site key for the external verifier.'),
  FRONTAGE_CHALLENGE_URL: url
    .default(new URL('https://challenges.cloudflare.com'))
    .describe('URL of the external verifier.'),
};
