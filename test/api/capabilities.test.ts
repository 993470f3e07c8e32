import { expect, test } from 'vitest';
import { capabilities, capabilitiesOf, missing } from '#api/capabilities.ts';
import { readConfig } from '#runtime/config.ts';

const configOf = (env: Record<string, string>) =>
  readConfig({ FRONTAGE_SECRET: 'a secret of the tests, long enough', ...env });

const codes = {
  builds: 'publish_disabled',
  previews: 'preview_disabled',
  forms: 'forms_disabled',
  mail: 'invitations_unavailable',
  photos: 'photos_disabled',
  files: 'uploads_disabled',
  sketches: 'sketches_disabled',
  screenshots: 'screenshots_disabled',
  analytics: 'analytics_disabled',
  payouts: 'payouts_disabled',
  billing: 'billing_disabled',
  email_signin: 'auth_disabled',
  bookings: 'bookings_unavailable',
  domains: 'invalid_mode',
};

test('each disabled capability has its own code', () => {
  const config = configOf({
    FRONTAGE_SANDBOX: 'off',
    FRONTAGE_FILES: 'off',
    FRONTAGE_SKETCHES: 'off',
    FRONTAGE_PREVIEWS: 'off',
    FRONTAGE_BOOKINGS: 'off',
    FRONTAGE_ANALYTICS: 'off',
  });
  expect(capabilitiesOf(config)).toEqual(Object.fromEntries(capabilities.map((name) => [name, false])));
  expect(Object.fromEntries(capabilities.map((name) => [name, missing(config, name)?.code]))).toEqual(codes);
});

test('builds need a sandbox, and repositories need a folder', () => {
  const config = configOf({ FRONTAGE_SANDBOX: 'auto' });
  expect(capabilitiesOf(config).builds).toBe(true);
  expect(missing(config, 'builds')).toBe(undefined);
  expect(missing(config, 'repositories')).toBe(undefined);
  expect(missing(configOf({ FRONTAGE_REPOSITORIES: 'none' }), 'repositories')?.code).toBe('no_repositories');
});
