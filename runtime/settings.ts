/** Every setting of the environment, in groups. `npm run docs` writes `docs/settings.md` from it. */
import { z } from 'zod';
import { domains } from './settings/domains.ts';
import { certificates, edges } from './settings/edges.ts';
import { features, forms, signIn } from './settings/features.ts';
import { addresses, installation, services } from './settings/installation.ts';
import { money } from './settings/money.ts';
import { operation, tracing } from './settings/operation.ts';
import { storage, workers } from './settings/workers.ts';

/** The settings by the heading under which `docs/settings.md` lists them. */
export const settingGroups = {
  Installation: installation,
  Addresses: addresses,
  Edge: edges,
  'TLS and certificates': certificates,
  Services: services,
  Workers: workers,
  Storage: storage,
  Features: features,
  Domains: domains,
  'Sign-in and mail': signIn,
  Forms: forms,
  'Payments and plans': money,
  Operation: operation,
  Traces: tracing,
};

export const settings = z.object({
  ...installation,
  ...addresses,
  ...edges,
  ...certificates,
  ...services,
  ...workers,
  ...storage,
  ...features,
  ...domains,
  ...signIn,
  ...forms,
  ...money,
  ...operation,
  ...tracing,
});

export type Settings = z.output<typeof settings>;
