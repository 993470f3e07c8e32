/** Settings that another setting requires. */
import type { Settings } from '#runtime/settings.ts';

type Requirement = {
  setting: keyof Settings;
  message: string;
  isMet: (settings: Settings) => boolean;
};

export const requirements: Requirement[] = [
  {
    setting: 'FRONTAGE_PEXELS_KEY',
    message: 'is required when FRONTAGE_PHOTOS is pexels',
    isMet: (e) => e.FRONTAGE_PHOTOS !== 'pexels' || e.FRONTAGE_PEXELS_KEY !== '',
  },
  {
    setting: 'FRONTAGE_PAYMENTS_KEY',
    message: 'is required when FRONTAGE_PAYOUT_RAILS contains connect',
    isMet: (e) => !e.FRONTAGE_PAYOUT_RAILS.includes('connect') || e.FRONTAGE_PAYMENTS_KEY !== '',
  },
  {
    setting: 'FRONTAGE_ZONES_URL',
    message: 'and FRONTAGE_ZONES_KEY are required when FRONTAGE_DOMAINS contains nameservers',
    isMet: (e) =>
      !e.FRONTAGE_DOMAINS.includes('nameservers') || (e.FRONTAGE_ZONES_URL !== '' && e.FRONTAGE_ZONES_KEY !== ''),
  },
  {
    setting: 'FRONTAGE_EDGE_ADDRESSES',
    message: 'is required when FRONTAGE_DOMAINS contains a mode',
    isMet: (e) => e.FRONTAGE_DOMAINS.length === 0 || e.FRONTAGE_EDGE_ADDRESSES.length > 0,
  },
  {
    setting: 'FRONTAGE_ACME_TERMS',
    message: 'must be `agreed` when FRONTAGE_ACME_URL is set',
    isMet: (e) => e.FRONTAGE_ACME_URL === '' || e.FRONTAGE_ACME_TERMS === 'agreed',
  },
];
