/** The catalog of caps that apply to an account. Sizes in bytes, times in seconds. */
export const defaultLimits = Object.freeze({
  sites: 50,
  collaborators_per_site: 20,
  preview_slots: 5,
  file_bytes: 26_214_400,
  site_files: 25_000,
  site_bytes: 1_073_741_824,
  uploads_under_way: 10,
  sketches: 50,
  push_bytes: 104_857_600,
  build_seconds: 300,
  publishes_per_hour: 60,
  files_per_day: 200,
  feedback_per_day: 20,
  open_comments_per_site: 1000,
  forms_per_site: 50,
  domains: 20,
  records_per_domain: 500,
  tokens: 100,
});

export type Limits = { readonly [Name in keyof typeof defaultLimits]: number };
