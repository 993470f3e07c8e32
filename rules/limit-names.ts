/** The limits of an account, by name. Sizes in bytes, times in seconds. The catalog of plans contains their values. */
export const limitNames = [
  'sites',
  'collaborators_per_site',
  'preview_slots',
  'file_bytes',
  'site_files',
  'site_bytes',
  'uploads_under_way',
  'sketches',
  'push_bytes',
  'build_seconds',
  'build_seconds_per_hour',
  'publishes_per_hour',
  'previews_per_hour',
  'uploads_per_hour',
  'screenshots_per_hour',
  'files_per_day',
  'feedback_per_day',
  'open_comments_per_site',
  'forms_per_site',
  'payout_accounts',
  'open_payout_offers',
  'domains',
  'records_per_domain',
  'tokens',
] as const;

export type LimitName = (typeof limitNames)[number];
export type Limits = { readonly [Name in LimitName]: number };
