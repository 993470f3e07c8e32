import type { Settings } from '#runtime/settings.ts';

export function featuresConfig(e: Settings) {
  return {
    files: e.FRONTAGE_FILES === 'on',
    sketches: e.FRONTAGE_SKETCHES === 'on',
    screenshots: e.FRONTAGE_SCREENSHOTS === 'on',
    bookings: e.FRONTAGE_BOOKINGS === 'on',
    previews: e.FRONTAGE_PREVIEWS === 'on',
    photos: e.FRONTAGE_PHOTOS,
    pexels: {
      key: e.FRONTAGE_PEXELS_KEY,
      url: e.FRONTAGE_PEXELS_URL.origin,
      fileHosts: e.FRONTAGE_PEXELS_FILE_HOSTS,
    },
  };
}

/** Sign-in, mail and forms. */
export function signInConfig(e: Settings) {
  return {
    /** Absent if no mail is sent. */
    mail: e.FRONTAGE_SMTP_URL
      ? { url: e.FRONTAGE_SMTP_URL, from: e.FRONTAGE_MAIL_FROM || `Frontage <hello@${e.FRONTAGE_BASE_URL.hostname}>` }
      : undefined,
    signUp: e.FRONTAGE_SIGNUP,
    emailSignIn: e.FRONTAGE_EMAIL_SIGNIN === 'on',
    /** Absent if forms are disabled. */
    challenge: e.FRONTAGE_CHALLENGE_KEY
      ? {
          kind: e.FRONTAGE_CHALLENGE,
          key: e.FRONTAGE_CHALLENGE_KEY,
          siteKey: e.FRONTAGE_CHALLENGE_SITE_KEY,
          url: e.FRONTAGE_CHALLENGE_URL.origin,
          rounds: e.FRONTAGE_CHALLENGE_ROUNDS,
        }
      : undefined,
  };
}
