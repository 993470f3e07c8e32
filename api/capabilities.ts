/** The capabilities of this installation, from its configuration, and the errors for those that are off. */

import { hasBuilder } from '#db/deployments/builder-capacity.ts';
import { call } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, type ErrorCode, errors } from '#runtime/errors.ts';

export const capabilities = [
  'builds',
  'previews',
  'forms',
  'mail',
  'photos',
  'files',
  'sketches',
  'screenshots',
  'analytics',
  'payouts',
  'billing',
  'email_signin',
  'bookings',
  'domains',
] as const;
export type Capability = (typeof capabilities)[number];

/** What an operation can require: a capability, or git repositories, which the account's response does not list. */
export type Requirement = Capability | 'repositories';

/** A capability is off if a part of it is missing or not configured. */
export function capabilitiesOf(config: Config): Record<Capability, boolean> {
  const on = new Set<Capability>();
  if (config.sandbox !== 'off') on.add('builds');
  if (config.challenge) on.add('forms');
  if (config.mail) on.add('mail');
  if (config.files) on.add('files');
  if (config.photos !== 'off') on.add('photos');
  if (config.mail && config.emailSignIn) on.add('email_signin');
  if (config.sketches) on.add('sketches');
  if (config.screenshots) on.add('screenshots');
  if (config.bookings) on.add('bookings');
  if (config.previews && config.repositoriesDir !== undefined) on.add('previews');
  if (config.analytics) on.add('analytics');
  if (config.domains.modes.length > 0) on.add('domains');
  if (config.billing) on.add('billing');
  if (config.payouts && canOfferPayoutRails(config)) on.add('payouts');
  return Object.fromEntries(capabilities.map((name) => [name, on.has(name)])) as Record<Capability, boolean>;
}

const uploadInstead = `Build the site yourself, and upload the output with ${call('deployment.create')}.`;

const answers: Record<Requirement, { code: ErrorCode; message: string; nextAction?: string }> = {
  builds: {
    code: 'publish_disabled',
    message: 'Builds are off on this platform.',
    nextAction: `Ask its operator to turn them on. ${uploadInstead}`,
  },
  previews: { code: 'preview_disabled', message: 'This platform does not offer previews.' },
  forms: { code: 'forms_disabled', message: 'This platform does not offer forms.' },
  mail: {
    code: 'invitations_unavailable',
    message: 'This platform cannot send e-mail, so it cannot send invitations.',
  },
  photos: {
    code: 'photos_disabled',
    message: 'Photo search is off: this platform has no stock photo library.',
    nextAction: `Ask the owner for photos of their own (${call('upload.create')}). The operator of the platform turns photo search on with the setting FRONTAGE_PHOTOS.`,
  },
  files: { code: 'uploads_disabled', message: 'This platform does not accept file uploads.' },
  screenshots: {
    code: 'screenshots_disabled',
    message: 'This platform has no browser, so it cannot show pages.',
    nextAction: 'Ask its operator to install Chromium. Until then, ask the owner to look at the page.',
  },
  sketches: { code: 'sketches_disabled', message: 'This platform does not offer sketches.' },
  analytics: { code: 'analytics_disabled', message: 'This platform does not offer analytics.' },
  payouts: { code: 'payouts_disabled', message: 'This platform cannot accept payments on behalf of site owners.' },
  billing: { code: 'billing_disabled', message: 'This platform does not meter usage and requires no payment.' },
  email_signin: { code: 'auth_disabled', message: 'Sign-in by e-mail is disabled on this platform.' },
  bookings: {
    code: 'bookings_unavailable',
    message: 'This platform does not offer bookings.',
    nextAction: 'Do not retry. Hide the booking form.',
  },
  domains: { code: 'invalid_mode', message: 'This platform does not offer custom domains, so no mode is available.' },
  repositories: { code: 'no_repositories', message: 'This platform does not provide git repositories.' },
};

/** Owners' provider keys are only stored encrypted. */
function canOfferPayoutRails({ payouts, canStorePayoutKeys }: Config): boolean {
  return canStorePayoutKeys || !payouts?.rails.includes('own_key');
}

const noEncryptionKey = 'This platform has no encryption key for payout accounts. The operator needs to configure one.';

/** The error for an operation that requires something that is off; `undefined` if it is on. */
export function missing(config: Config, need: Requirement): AppError | undefined {
  const on = need === 'repositories' ? config.repositoriesDir !== undefined : capabilitiesOf(config)[need];
  if (need === 'payouts' && config.payouts && !on) return errors.payouts_unavailable(noEncryptionKey);
  return on ? undefined : refusal(need);
}

/** Like `missing`; builds also require a running builder. */
export async function missingNow(
  deps: Pick<Deps, 'config' | 'em' | 'clock'>,
  need: Requirement,
): Promise<AppError | undefined> {
  const off = missing(deps.config, need);
  if (off || need !== 'builds' || (await hasBuilder(deps.em(), deps.clock))) return off;
  return noBuilder();
}

function noBuilder(): AppError {
  return errors.publish_disabled('This platform cannot build sites: no worker with a sandbox is running.', {
    nextAction: `Ask the operator of this platform; the log of a worker says why. ${uploadInstead}`,
  });
}

function refusal(need: Requirement): AppError {
  const { code, message, nextAction } = answers[need];
  return errors[code](message, nextAction === undefined ? {} : { nextAction });
}
