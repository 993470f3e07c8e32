/** Features, sign-in and forms. */
import { z } from 'zod';
import { list, onOff, url } from './types.ts';

export const features = {
  FRONTAGE_FILES: onOff
    .default('on')
    .describe('`off`: no assets, upload links or uploads of built output (`uploads_disabled`).'),
  FRONTAGE_SKETCHES: onOff.default('on').describe('`off`: the calls of sketches return `sketches_disabled`.'),
  FRONTAGE_BOOKINGS: onOff.default('on').describe('`off`: the calls of bookings return `bookings_unavailable`.'),
  FRONTAGE_PREVIEWS: onOff
    .default('on')
    .describe('`off`: the calls of preview slots return `preview_disabled`. Also off without repositories.'),
  FRONTAGE_PHOTOS: z
    .enum(['off', 'offline', 'pexels'])
    .default('off')
    .describe('Stock photos: `offline` (six included pictures; `npm start` sets it) or `pexels`.'),
  FRONTAGE_PEXELS_KEY: z.string().default('').describe('API key of Pexels. Required with `pexels`.'),
  FRONTAGE_PEXELS_URL: url.default(new URL('https://api.pexels.com')).describe('Address of the Pexels API.'),
  FRONTAGE_PEXELS_FILE_HOSTS: list
    .default(['images.pexels.com'])
    .describe('Hosts from which its files may be downloaded.'),
};

export const signIn = {
  FRONTAGE_SIGNUP: z
    .enum(['open', 'closed'])
    .default('closed')
    .describe('`open`: the first approval or sign-in of an address creates its account. `npm start` sets it.'),
  FRONTAGE_EMAIL_SIGNIN: onOff
    .default('on')
    .describe('`off`: no access requests and no sign-in (`auth_disabled`). Also off if no mail can be sent.'),
  FRONTAGE_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .or(z.literal(''))
    .default('')
    .describe(
      'Mail server, as `smtp://user:password@host:587` or `smtps://…`. With `?requireTLS=true`, mails are only sent over TLS. Empty: no mail, so no invitations and no sign-in by e-mail. `npm start` sets its own mail catcher.',
    ),
  FRONTAGE_MAIL_FROM: z.string().default('').describe('The sender of all mails.'),
};

export const forms = {
  FRONTAGE_CHALLENGE_KEY: z
    .string()
    .min(16)
    .or(z.literal(''))
    .default('')
    .describe(
      'Signs the spam challenges of forms, or is the secret key of the external verifier. At least 16 characters. Empty: no forms (`forms_disabled`). `npm start` creates one. A new key only invalidates challenges that are being solved.',
    ),
  FRONTAGE_CHALLENGE: z
    .enum(['altcha', 'turnstile'])
    .default('altcha')
    .describe('`altcha`: our own proof of work. `turnstile`: an external verifier, which sees the visitors.'),
  FRONTAGE_CHALLENGE_ROUNDS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .default(1_000_000)
    .describe('Average hashing rounds of our own challenge. A million take half a second on a phone.'),
  FRONTAGE_CHALLENGE_SITE_KEY: z.string().default('').describe('Public key of the external verifier.'),
  FRONTAGE_CHALLENGE_URL: url
    .default(new URL('https://challenges.cloudflare.com'))
    .describe('Address of the external verifier.'),
};
