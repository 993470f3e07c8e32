/** What this deployment can do, from its configuration. */
import type { Config } from '../config.ts';

export const capabilities = [
  'builds',
  'previews',
  'forms',
  'mail',
  'photos',
  'files',
  'sketches',
  'analytics',
  'payouts',
  'billing',
  'email_signin',
  'bookings',
  'domains',
] as const;
export type Capability = (typeof capabilities)[number];

/** Which capabilities are on. A capability whose part is not there yet, or not configured, is off. */
export function capabilitiesOf(config: Config): Record<Capability, boolean> {
  const on = new Set<Capability>();
  if (config.sandbox !== 'off') on.add('builds');
  return Object.fromEntries(capabilities.map((name) => [name, on.has(name)])) as Record<Capability, boolean>;
}
